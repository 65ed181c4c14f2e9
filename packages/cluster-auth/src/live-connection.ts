import type { Agent } from 'node:http';
import { createAgent, createPlainAgent, isBusy, retire, type Tunnel } from './agent.ts';
import type { Authorization, Connection } from './connection.ts';
import { type Credentials, secretsOf, type Validity } from './credentials.ts';
import type { Dependencies } from './dependencies.ts';
import { ClusterAuthError } from './errors.ts';
import { abortable, type Rotating } from './rotating.ts';
import { verificationFailure } from './trust/verification.ts';

/** Everything that a reference says about a cluster, directly or in the files that it names. */
export type Access = {
  readonly server: URL;
  /** PEM that verifies the API server; undefined: the roots that Node.js has built in. */
  readonly ca: Rotating<string | undefined>;
  readonly credentials: Rotating<Credentials>;
  readonly tlsServerName?: string | undefined;
  /** Overrides the proxy of the environment. */
  readonly proxy?: URL;
  /** Sent with every request, for example for impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
};

/** What an Authorization was made from. */
type Parts = {
  readonly ca: string | undefined;
  readonly credentials: Credentials;
  readonly authorization: Authorization;
};

/** A connection whose parts rotate: it compares their values, and replaces the agent if one for TLS changed. */
export class LiveConnection implements Connection {
  readonly server: URL;
  readonly #access: Access;
  readonly #tunnel: Tunnel | undefined;
  readonly #lifetime: AbortController;
  readonly #secrets: Dependencies['secrets'];
  #current: Parts | undefined;
  /** Replaced agents that may still serve a watch. */
  #retired: Agent[] = [];

  /** @param lifetime aborted by `close`, which ends the background work of `access` */
  constructor(
    access: Access,
    tunnel: Tunnel | undefined,
    { lifetime, secrets }: { lifetime: AbortController; secrets: Dependencies['secrets'] },
  ) {
    this.server = access.server;
    this.#access = access;
    this.#tunnel = tunnel;
    this.#lifetime = lifetime;
    this.#secrets = secrets;
  }

  get validity(): Validity | undefined {
    return this.#current?.credentials.validity;
  }

  async authorize({ signal }: { signal: AbortSignal }): Promise<Authorization> {
    this.#lifetime.signal.throwIfAborted();
    const parts = Promise.all([this.#access.ca.current(), this.#access.credentials.current()]);
    const [ca, credentials] = await abortable(parts, signal);
    // `close` may have run meanwhile, and wouldn't close a new agent.
    this.#lifetime.signal.throwIfAborted();
    return this.#authorizationOf(ca, credentials);
  }

  async unauthorized(used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    return this.#renew(this.#access.credentials, used, options);
  }

  async connectionFailed(error: unknown, used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    return verificationFailure(error) !== undefined && this.#renew(this.#access.ca, used, options);
  }

  close(): void {
    this.#lifetime.abort(new ClusterAuthError('CLUSTER_CLOSED', `the connection to ${this.server.host} is closed`));
    for (const agent of this.#retired) agent.destroy();
    this.#current?.authorization.agent.destroy();
  }

  async #renew(part: Rotating<unknown>, used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    try {
      await abortable(part.renew(), options.signal);
      return (await this.authorize(options)) !== used;
    } catch {
      options.signal.throwIfAborted();
      // Nothing new to retry with. The next authorize() fails in the same way, and reports it.
      return false;
    }
  }

  #authorizationOf(ca: string | undefined, credentials: Credentials): Authorization {
    const last = this.#current;
    const sameTls =
      last !== undefined &&
      last.ca === ca &&
      last.credentials.keyPair?.certPem === credentials.keyPair?.certPem &&
      last.credentials.keyPair?.keyPem === credentials.keyPair?.keyPem;
    if (sameTls && last.credentials.authorization === credentials.authorization) return last.authorization;

    this.#secrets.hold(this, secretsOf(credentials));
    const agent = sameTls ? last.authorization.agent : this.#replaceAgent(ca, credentials);
    const { authorization: value } = credentials;
    const headers = { ...this.#access.headers, ...(value !== undefined && { authorization: value }) };
    this.#current = { ca, credentials, authorization: { agent, headers } };
    return this.#current.authorization;
  }

  #replaceAgent(ca: string | undefined, { keyPair }: Credentials): Agent {
    const { tlsServerName } = this.#access;
    const agent =
      this.server.protocol === 'http:'
        ? createPlainAgent()
        : createAgent({ ca, keyPair, tlsServerName, tunnel: this.#tunnel });
    if (this.#current !== undefined) {
      retire(this.#current.authorization.agent);
      this.#retired = [...this.#retired.filter(isBusy), this.#current.authorization.agent];
    }
    return agent;
  }
}
