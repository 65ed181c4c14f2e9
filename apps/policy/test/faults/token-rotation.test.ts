import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import type { Accounts } from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { isUp, restartsOf } from '../support/remote-state.ts';
import { it as itUnderFaults } from '../support/under-faults.ts';

/** kube-apiserver believes a token for some 10 s after its end. */
const REVOKED_MS = 30_000;

/** The token of an account in a file, as kubelet or an agent keeps it. */
class TokenFile {
  readonly path: string;
  readonly #cluster: TestCluster;
  readonly #account: string;
  #token = '';

  constructor(cluster: TestCluster, account: string) {
    this.path = join(cluster.dir, `${account}-renewed.token`);
    this.#cluster = cluster;
    this.#account = account;
  }

  /** Replaces the file by a new token's, in one step. */
  async renew(): Promise<void> {
    const { admin } = this.#cluster;
    const spec = { expirationSeconds: 3600 };
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const { status } = await admin.create(`${accounts}/${this.#account}/token`, request);
  }
}
