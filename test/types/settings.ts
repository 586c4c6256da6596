import { Settings, type SettingValue } from '../../src/model/settings.ts';
import { type Equal, expectType } from './expect-type.ts';

/* Checked by tsc alone: what a setting's value is taken to be. */

const settings = new Settings();

expectType<Equal<SettingValue<'topology.stmgrs'>, number>>();
expectType<Equal<SettingValue<'topology.debug'>, boolean>>();
expectType<Equal<SettingValue<'topology.container.ram'>, number | undefined>>();
expectType<Equal<SettingValue<'topology.reliability.mode'>, 'ATMOST_ONCE' | 'ATLEAST_ONCE'>>();
expectType<Equal<SettingValue<'topology.retry.limit'>, number>>();
expectType<Equal<SettingValue<'topology.dead.letters'>, 'file' | 'none'>>();
expectType<Equal<SettingValue<'topology.droptuples.upon.backpressure'>, boolean>>();
expectType<
  Equal<SettingValue<'topology.component.rammap'>, ReadonlyMap<string, number> | undefined>
>();

// @ts-expect-error There is no such setting.
settings.get('topology.stmgr');
