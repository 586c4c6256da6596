import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from './temporary-folder.ts';

const run = promisify(execFile);

/** Texts in PEM form, and the files that hold them. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  readonly certificateFile: string;
  /** The key and the certificate, as Java wants them. */
  readonly bothFile: string;
}

/** An authority, and what it has signed. */
export class TestAuthority {
  readonly own: Certificate;
  readonly #folder: string;
  readonly #name: string;

  /** A new one, which nobody trusts; made by openssl. */
  static async create(t: Pick<TestContext, 'after'>, name: string): Promise<TestAuthority> {
    const { path: folder } = await temporaryFolder(t as TestContext);
    await openssl(folder, name, [
      '-subj',
      `/CN=${name}`,
      '-addext',
      'basicConstraints=critical,CA:TRUE',
    ]);
    return new TestAuthority(folder, name, await certificateOf(folder, name));
  }

  private constructor(folder: string, name: string, own: Certificate) {
    this.#folder = folder;
    this.#name = name;
    this.own = own;
  }

  /** `names` as certificates have them: `DNS:zookeeper.test,IP:127.0.0.1`. */
  async sign(file: string, names: string): Promise<Certificate> {
    const signer = ['-CA', `${this.#name}.pem`, '-CAkey', `${this.#name}.key`];
    const extensions = [
      '-addext',
      `subjectAltName=${names}`,
      '-addext',
      'basicConstraints=CA:FALSE',
    ];
    await openssl(this.#folder, file, ['-subj', `/CN=${file}`, ...extensions, ...signer]);
    return certificateOf(this.#folder, file);
  }
}

/** A new key and its certificate for a day, in `<name>.key` and `<name>.pem`. */
async function openssl(folder: string, name: string, options: readonly string[]): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  await run('openssl', ['req', '-x509', ...key, '-days', '1', ...files, ...options], {
    cwd: folder,
  });
}

async function certificateOf(folder: string, name: string): Promise<Certificate> {
  const certificateFile = join(folder, `${name}.pem`);
  const certificate = await readFile(certificateFile, 'utf8');
  const key = await readFile(join(folder, `${name}.key`), 'utf8');
  const bothFile = join(folder, `${name}-both.pem`);
  await writeFile(bothFile, `${key}${certificate}`);
  return { certificate, key, certificateFile, bothFile };
}
