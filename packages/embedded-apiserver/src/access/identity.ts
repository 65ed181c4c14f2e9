import { randomBytes } from 'node:crypto';
import { ApiError } from '../http/status.ts';
import type { Storage } from '../storage/storage.ts';

/** The sender of a request. */
export type User = { readonly name: string; readonly groups: readonly string[] };

const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
const adminUser: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

type Grant = { readonly namespace: string; readonly name: string; readonly uid: string; readonly expiresAtMs: number };

/** Finds the owner of a bearer token, and issues tokens for ServiceAccounts. */
export class Identities {
  readonly adminToken = token();
  /** Clients see a key ID, although tokens are random, not signed. */
  readonly signingKeyId = randomBytes(32).toString('base64url');
  readonly #storage: Storage;
  readonly #grants = new Map<string, Grant>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** A token that is valid while the ServiceAccount with this UID exists, until `expiresAtMs`. */
  issue(grant: Grant): string {
    const issued = token();
    this.#grants.set(issued, grant);
    return issued;
  }

  /** @throws {ApiError} 401 for an unknown or expired token */
  authenticate(authorization: string | undefined): User {
    const [scheme, bearer] = (authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer' || !bearer) return anonymous;
    if (bearer === this.adminToken) return adminUser;
    const grant = this.#grants.get(bearer);
    if (!grant || grant.expiresAtMs < Date.now() || !this.#accountExists(grant)) {
      throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    }
    return {
      name: `system:serviceaccount:${grant.namespace}:${grant.name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${grant.namespace}`, 'system:authenticated'],
    };
  }

  #accountExists({ namespace, name, uid }: Grant): boolean {
    return this.#storage.collection(this.#storage.builtIn('serviceaccounts')).get(namespace, name)?.uid === uid;
  }
}

const token = () => `embedded.${randomBytes(24).toString('base64url')}`;
