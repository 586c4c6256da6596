import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  componentName,
  containerId,
  instanceId,
  streamManagerId,
  taskId,
  topologyId,
  topologyName,
} from '../../../src/base/ids.ts';
import type { ComponentLanguage } from '../../../src/model/logical-topology.ts';
import type { Membership } from '../../../src/stream-manager/membership.ts';
import {
  decideRegistration,
  type ExpectedInstances,
  type RegistrationClaim,
  taskOfInstanceId,
} from '../../../src/stream-manager/registration.ts';

const own: Membership = {
  topologyName: topologyName('words'),
  topologyId: topologyId('words-1'),
  token: 'secret',
  engineVersion: '1.2.3',
};

const expected: ExpectedInstances = {
  streamManager: streamManagerId('stmgr-2'),
  container: containerId(2),
  ids: new Set(['container_2_count_4', 'container_2_old_5', 'container_2_gone_6'].map(instanceId)),
  languages: new Map<ReturnType<typeof componentName>, ComponentLanguage>([
    [componentName('count'), 'typescript'],
    [componentName('old'), 'python'],
  ]),
};

function claim(
  changes: Partial<Omit<RegistrationClaim, 'instance'>> & {
    readonly instance?: Partial<RegistrationClaim['instance']>;
  } = {},
): RegistrationClaim {
  return {
    topologyName: 'words',
    topologyId: 'words-1',
    token: 'secret',
    engineVersion: '1.2.3',
    creditBytes: 1_024,
    ...changes,
    instance: {
      id: instanceId('container_2_count_4'),
      streamManager: streamManagerId('stmgr-2'),
      task: taskId(4),
      componentIndex: 0,
      component: componentName('count'),
      ...changes.instance,
    },
  };
}

const python = {
  id: instanceId('container_2_old_5'),
  task: taskId(5),
  component: componentName('old'),
};

describe('decideRegistration', () => {
  it('accepts an instance of this engine', () => {
    assert.deepEqual(decideRegistration(claim(), own, expected), {
      kind: 'accept',
      isForeign: false,
    });
  });

  it('accepts a foreign instance, which knows no token, version or credit', () => {
    const foreign = claim({
      instance: python,
      token: undefined,
      engineVersion: undefined,
      creditBytes: undefined,
    });
    assert.deepEqual(decideRegistration(foreign, own, expected), {
      kind: 'accept',
      isForeign: true,
    });
  });

  const refused: [what: string, claim: RegistrationClaim, code: string, words: RegExp][] = [
    ['another topology', claim({ topologyName: 'lines' }), 'WRONG_TOPOLOGY', /words.*lines/],
    ['another submit', claim({ topologyId: 'words-0' }), 'WRONG_TOPOLOGY', /words-1.*words-0/],
    ['no token', claim({ token: undefined }), 'NOT_AUTHORIZED', /token/],
    ['a wrong token', claim({ token: 'secreT' }), 'NOT_AUTHORIZED', /token/],
    ['a longer token', claim({ token: 'secrets' }), 'NOT_AUTHORIZED', /token/],
    ['another version', claim({ engineVersion: '1.2.4' }), 'VERSION_MISMATCH', /1\.2\.3.*1\.2\.4/],
    ['no credit', claim({ creditBytes: undefined }), 'UNEXPECTED_MESSAGE', /credit/],
    ['zero credit', claim({ creditBytes: 0 }), 'UNEXPECTED_MESSAGE', /credit/],
    [
      'an instance of another stream manager',
      claim({ instance: { streamManager: streamManagerId('stmgr-3') } }),
      'NOT_EXPECTED',
      /stmgr-2.*stmgr-3/,
    ],
    [
      'an unknown instance',
      claim({ instance: { id: instanceId('container_2_count_9') } }),
      'NOT_EXPECTED',
      /container_2_count_9/,
    ],
    [
      'an id that belies its task',
      claim({ instance: { task: taskId(5) } }),
      'NOT_EXPECTED',
      /task 5/,
    ],
    [
      'an id that belies its component',
      claim({ instance: { component: componentName('old') } }),
      'NOT_EXPECTED',
      /component old/,
    ],
    [
      'a component that the topology lacks',
      claim({
        instance: {
          id: instanceId('container_2_gone_6'),
          task: taskId(6),
          component: componentName('gone'),
        },
      }),
      'NOT_EXPECTED',
      /gone/,
    ],
    [
      'a foreign instance of another topology',
      claim({ instance: python, topologyName: 'lines' }),
      'WRONG_TOPOLOGY',
      /lines/,
    ],
  ];
  for (const [what, refusedClaim, code, words] of refused) {
    it(`refuses ${what}`, () => {
      const decision = decideRegistration(refusedClaim, own, expected);
      assert.equal(decision.kind, 'refuse');
      assert.equal(decision.kind === 'refuse' && decision.code, code);
      assert.match(decision.kind === 'refuse' ? decision.why : '', words);
    });
  }

  it('never repeats a token in its answer', () => {
    const decision = decideRegistration(claim({ token: 'guess' }), own, expected);
    assert.doesNotMatch(JSON.stringify(decision), /guess|secret/);
  });
});

describe('taskOfInstanceId', () => {
  it('reads the number behind the last underscore', () => {
    assert.equal(taskOfInstanceId(instanceId('container_1_two_words_12')), 12);
    assert.equal(taskOfInstanceId(instanceId('container_1_word')), undefined);
  });
});
