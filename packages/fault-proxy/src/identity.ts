import { type Authority, type Certificate, createAuthority, replaceFile } from '@kube-semaphore/embedded-apiserver';
import type { FaultOf } from './fault.ts';

/** The CA of a proxy with its file, a CA that may take its place, and the certificates of both. */
export class Identity {
  readonly caFile: string;
  #authority: Authority;
  #announced: Authority | undefined;
  #certificate: Certificate;

  private constructor(caFile: string, authority: Authority, certificate: Certificate) {
    this.caFile = caFile;
    this.#authority = authority;
    this.#certificate = certificate;
  }

  static async create(caFile: string): Promise<Identity> {
    const authority = await createAuthority();
    await replaceFile(caFile, authority.caPem);
    return new Identity(caFile, authority, await issue(authority));
  }

  get caPem(): string {
    return this.#authority.caPem;
  }

  /** The same each time, unless something is to be wrong with it. */
  async certificate(wrong?: FaultOf<'certificate'>['of']): Promise<Certificate> {
    switch (wrong) {
      case undefined:
        return this.#certificate;
      case 'another CA':
        return issue(await createAuthority('an unknown CA'));
      case 'another host':
        return issue(this.#authority, { dnsNames: ['another-host.example.org'], ips: ['192.0.2.1'] });
      case 'the past':
        return issue(this.#authority, { ...OURS, notAfter: new Date(Date.now() - 60_000) });
    }
  }

  async announceCa(): Promise<void> {
    this.#announced = await nextAuthority();
    await replaceFile(this.caFile, this.caPem + this.#announced.caPem);
  }

  async changeCa(): Promise<void> {
    this.#authority = this.#announced ?? (await nextAuthority());
    this.#announced = undefined;
    this.#certificate = await issue(this.#authority);
  }

  removeOldCa(): Promise<void> {
    return replaceFile(this.caFile, this.caPem);
  }
}

/** OpenSSL finds an issuer by its name. */
let authorities = 0;
const nextAuthority = (): Promise<Authority> => createAuthority(`CA ${(authorities += 1)} of a fault proxy`);

const OURS = { dnsNames: ['localhost'], ips: ['127.0.0.1'] };

const issue = (
  authority: Authority,
  request: Partial<Parameters<Authority['issue']>[0]> = OURS,
): Promise<Certificate> => authority.issue({ usage: 'server', commonName: 'fault-proxy', ...request });
