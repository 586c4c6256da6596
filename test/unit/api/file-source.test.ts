import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FileSourceOptions, fields, fileSource } from '../../../src/api/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { FAILED, ReplayedSpout } from '../../support/replayed-spout.ts';
import { SourceDisk } from '../../support/source-disk.ts';

type Spout = ConstructorParameters<typeof ReplayedSpout>[0];

interface Emitted {
  readonly line: unknown;
  readonly id: unknown;
}

/** A file source on a disk in memory, as task 1 of 1. */
class FileLife {
  readonly disk = new SourceDisk();
  readonly clock = new ManualClock();
  readonly options: FileSourceOptions;
  spout: ReplayedSpout;

  constructor(options: FileSourceOptions = {}) {
    this.options = { files: this.disk, positions: '/positions', ...options };
    this.spout = new ReplayedSpout(fileSource([])());
  }

  async open(paths: string | readonly string[]): Promise<void> {
    await this.openSpout(fileSource(paths, this.options)());
  }

  async openSpout(spout: Spout): Promise<void> {
    this.spout = new ReplayedSpout(spout, { clock: this.clock });
    await this.spout.open();
  }

  /** All that can be had now. */
  async take(): Promise<readonly Emitted[]> {
    await this.spout.drain();
    return this.spout.collector.emitted
      .splice(0)
      .map(({ values, messageId }) => ({ line: values[0], id: messageId }));
  }

  async lines(): Promise<readonly unknown[]> {
    return (await this.take()).map(({ line }) => line);
  }

  /** Acks all that can be had now, and lets it be committed. */
  async process(): Promise<readonly unknown[]> {
    const taken = await this.take();
    for (const { id } of taken) void this.spout.spout.ack(id);
    await this.spout.drain();
    await this.spout.advance(2_000);
    await this.spout.drain();
    return taken.map(({ line }) => line);
  }

  get letters() {
    return this.spout.collector.givenUp.map(({ values, reason }) => ({
      bytes: Buffer.from((values?.[0] as Uint8Array | undefined) ?? []).toString('latin1'),
      message: reason.message,
    }));
  }
}

describe('a file source', () => {
  it('emits the lines of its files one after the other, and ends', async () => {
    const life = new FileLife();
    life.disk.put('/a', 'one\r\ntwo\n\n');
    life.disk.put('/b', '');
    life.disk.put('/c', 'thrée');
    await life.open(['/a', '/b', '/c']);
    assert.deepEqual(await life.process(), ['one', 'two', '', 'thrée']);
    assert.equal(life.spout.collector.ends, 1);
    await life.spout.spout.close();
    assert.equal(life.disk.openFiles, 0);
  });

  it('finds characters across the borders of reads, and leaves a byte order mark out', async () => {
    for (let readBytesMax = 1; readBytesMax < 12; readBytesMax += 1) {
      const life = new FileLife();
      life.disk.readBytesMax = readBytesMax;
      life.disk.put('/a', '\u{feff}häßlich 😀\n\u{feff}wörter\r\n');
      await life.open('/a');
      assert.deepEqual(await life.process(), ['häßlich 😀', '\u{feff}wörter'], `${readBytesMax}`);
    }
  });

  it('O38: a line that is not UTF-8 becomes a dead letter, the next one is unharmed', async () => {
    const bytes = Buffer.from('good\nbad \xff\xfe!\nreplaced \xef\xbf\xbd by right\n', 'latin1');
    const life = new FileLife();
    life.disk.put('/a', bytes);
    await life.open('/a');
    assert.deepEqual(await life.process(), ['good', 'replaced \u{fffd} by right']);
    assert.deepEqual(life.letters, [{ bytes: 'bad \xff\xfe!', message: 'the line is not UTF-8' }]);
    assert.equal(life.spout.collector.ends, 1);

    const lenient = new FileLife({ badUtf8: 'replace' });
    lenient.disk.put('/a', bytes);
    await lenient.open('/a');
    assert.equal((await lenient.process())[1], 'bad \u{fffd}\u{fffd}!');
    const latin = new FileLife({ encoding: 'latin1' });
    latin.disk.put('/a', bytes);
    await latin.open('/a');
    assert.equal((await latin.process())[1], 'bad \xff\xfe!');
  });

  it('a line that is too long becomes a dead letter with its beginning', async () => {
    const life = new FileLife({ lineBytesMax: 4 });
    life.disk.put('/a', 'good\ntoo long\r\nfine\n');
    await life.open('/a');
    assert.deepEqual(await life.process(), ['good', 'fine']);
    assert.deepEqual(life.letters, [
      { bytes: 'too ', message: 'the line has more than 4 bytes, of which these are the first' },
    ]);
  });

  it('O38: what cannot be parsed becomes a dead letter, a remark is passed over', async () => {
    const life = new FileLife();
    life.disk.put('/a', '{"id":1}\n{"id":\n# a remark\n{"id":3}\n');
    const spout = fileSource('/a', {
      ...life.options,
      fields: fields<{ id: number }>()('id'),
      parse: (line, position) => {
        assert.equal(position.file, '/a');
        return line.startsWith('#') ? undefined : (JSON.parse(line) as { id: number });
      },
    })();
    await life.openSpout(spout);
    assert.deepEqual(await life.process(), [1, 3]);
    const [letter] = life.letters;
    assert.equal(letter?.bytes, '{"id":');
    assert.match(letter?.message ?? '', /JSON/);
  });

  it('goes on behind what was committed when it is started anew', async () => {
    const life = new FileLife();
    life.disk.put('/a', 'one\ntwo\n');
    life.disk.put('/b', 'three\nfour\nfive');
    await life.open(['/a', '/b']);
    for (const { line, id } of await life.take()) {
      if (line !== 'four') void life.spout.spout.ack(id);
    }
    await life.spout.advance(2_000);
    await life.open(['/a', '/b']);
    assert.deepEqual(await life.process(), ['four', 'five']);
    await life.open(['/a', '/b']);
    assert.deepEqual(await life.process(), []);
    assert.equal(life.spout.collector.ends, 1);
  });

  it('reads a line again when it has failed', async () => {
    const life = new FileLife();
    life.disk.put('/a', 'one\r\ntwö\n');
    life.disk.put('/b', 'three');
    await life.open(['/a', '/b']);
    const taken = await life.take();
    for (const { id } of taken) void life.spout.spout.fail(id, FAILED);
    await life.spout.advance(100);
    assert.deepEqual(new Set(await life.lines()), new Set(['one', 'three', 'twö']));
  });

  it('S15: reports a line that is not there any more when it is to be read again', async () => {
    const life = new FileLife();
    life.disk.put('/a', 'one\ntwo\nthree\n');
    await life.open('/a');
    const taken = await life.take();
    for (const { line, id } of taken) {
      if (line === 'three') void life.spout.spout.fail(id, FAILED);
      else void life.spout.spout.ack(id);
    }
    life.disk.put('/a', 'one\n');
    await life.spout.advance(1_000);
    assert.deepEqual(await life.lines(), []);
    const [error] = life.spout.collector.errors as Error[];
    assert.match(error?.message ?? '', /lost at source: .*"offset":8/);
    await life.spout.advance(1_000);
    await life.spout.drain();
    assert.equal(life.spout.collector.ends, 1);
  });

  it('refuses a file that is missing, and one that has become shorter', async () => {
    const life = new FileLife();
    await assert.rejects(life.open('/a'), { code: 'ENOENT' });
    life.disk.put('/a', 'one\ntwo\n');
    await life.open('/a');
    await life.process();
    life.disk.put('/a', 'x\n');
    await assert.rejects(life.open('/a'), /has 2 bytes, and 8 of it have been read before/);
  });

  it('S17: does not begin at the start when its position is damaged', async () => {
    const life = new FileLife();
    life.disk.put('/a', 'one\n');
    await life.open('/a');
    await life.process();
    const place = /^\/positions\/lines-[0-9a-f]{16}\.json$/;
    const path = [...life.disk.contents.keys()].find((key) => place.test(key));
    assert.ok(path !== undefined);
    for (const damage of ['', '{"file":"/a"}', '{"file":"/b","offset":0}', 'nonsense']) {
      life.disk.put(path, damage);
      await assert.rejects(life.open('/a'), /position in .* cannot be read/, damage);
    }
  });

  it('is read from a relative path, and refuses fields without a parser', async () => {
    const life = new FileLife({ positions: 'positions' });
    life.disk.put('/topology/a', 'one');
    await life.open('a');
    assert.deepEqual(await life.process(), ['one']);
    assert.ok(
      [...life.disk.contents.keys()].some((path) => path.startsWith('/topology/positions/')),
    );
    assert.throws(() => fileSource('/a', { fields: ['id'] } as FileSourceOptions), /needs parse/);
  });
});

describe('a file source that follows', () => {
  it('emits what is added, when its end is there', async () => {
    const life = new FileLife({ follow: true, pollMs: 50 });
    life.disk.put('/a', 'one\ntw');
    await life.open('/a');
    assert.deepEqual(await life.process(), ['one']);
    life.disk.append('/a', 'o\nthree\n');
    await life.spout.advance(100);
    assert.deepEqual(await life.process(), ['two', 'three']);
    assert.equal(life.spout.collector.ends, 0);
    await life.spout.spout.close();
    assert.equal(life.disk.openFiles, 0);
  });

  it('looks at most so often', async () => {
    const life = new FileLife({ follow: true, pollMs: 1_000 });
    life.disk.put('/a', '');
    await life.open('/a');
    assert.deepEqual(await life.lines(), []);
    life.disk.append('/a', 'one\n');
    assert.deepEqual(await life.lines(), []);
    await life.spout.advance(1_000);
    assert.deepEqual(await life.lines(), ['one']);
  });

  it('reads several files in turns, one of which comes later, and commits each', async () => {
    const life = new FileLife({ follow: true });
    const paths = ['/a', '/b', '/c'];
    life.disk.put('/a', 'a1\n');
    life.disk.put('/b', 'b1\n');
    await life.open(paths);
    assert.deepEqual(new Set(await life.process()), new Set(['a1', 'b1']));
    life.disk.append('/b', 'b2\n');
    life.disk.put('/c', 'c1\n');
    life.disk.append('/a', 'a2\n');
    await life.spout.advance(100);
    const taken = await life.take();
    assert.deepEqual(new Set(taken.map(({ line }) => line)), new Set(['a2', 'b2', 'c1']));
    assert.equal(taken.length, 3);
    // All but the last one of the order of reading.
    for (const { id } of taken.slice(0, -1)) void life.spout.spout.ack(id);
    await life.spout.advance(2_000);
    await life.open(paths);
    assert.deepEqual(await life.process(), [taken.at(-1)?.line]);
    await life.open(paths);
    assert.deepEqual(await life.process(), []);
  });

  it('begins a file anew that has become shorter', async () => {
    const life = new FileLife({ follow: true });
    life.disk.put('/a', 'one\ntwo\n');
    await life.open('/a');
    assert.deepEqual(await life.process(), ['one', 'two']);
    life.disk.put('/a', 'new\n');
    await life.spout.advance(100);
    assert.deepEqual(await life.process(), ['new']);
    await life.open('/a');
    life.disk.put('/a', 'x\n');
    assert.deepEqual(await life.process(), ['x']);
  });
});
