import type { Agent } from 'node:http';
import { createAgent, createPlainAgent, isBusy, retire, type Tunnel } from './transport/agent.ts';
import type { Authorization, Connection } from './connection.ts';
import { type Credentials, secretsOf, type Validity } from './credentials/credentials.ts';
import type { Dependencies } from './dependencies.ts';
import { ClusterAuthError } from './errors.ts';
import { abortable, type Rotating } from './credentials/rotating.ts';
import { verificationFailure } from './trust/verification.ts';

/** Everything that a reference says about a cluster, directly or in the files that it names. */
export type Access = {
  readonly server: URL;
  /** PEM that verifies the API server; undefined: the roots that Node.js has built in. */
  readonly ca: Rotating<string | undefined>;
  readonly credentials: Rotating<Credentials>;
  readonly tlsServerName?: string | undefined;
  /** Whether no certificate is verified. Default: each is. */
  readonly insecure?: boolean;
  /** Overrides the proxy of the environment. */
  readonly proxy?: URL;
  /** Sent with every request, for example for impersonation. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
};

/** How an API server is reached. It is the same object until a kubeconfig changes. */
export type Route = Access & { readonly tunnel: Tunnel | undefined };

/** Whether two routes lead to one server: behind two proxies, one address may be two. */
export const isSameServer = (a: Access, b: Access): boolean =>
  a.server.href === b.server.href && a.proxy?.href === b.proxy?.href;

/** `isStale`: only of files. */
type Routes = Rotating<Route> & { readonly isStale?: boolean };

/** What an Authorization was made from. */
type Parts = {
  readonly ca: string | undefined;
  readonly credentials: Credentials;
  readonly authorization: Authorization;
};

/** A connection whose parts rotate: it compares their values, and replaces the agent if one for TLS changed. */
export class LiveConnection implements Connection {
  readonly #routes: Routes;
  readonly #lifetime: AbortController;
  readonly #secrets: Dependencies['secrets'];
  #route: Route;
  #sameServer = new AbortController();
  /** Made from `#route`. */
  #current: Parts | undefined;
  /** Of `#current`, or to be replaced by its agent. */
  #agent: Agent | undefined;
  /** Replaced agents that may still serve a watch. */
  #retired: Agent[] = [];

  /**
   * @param route of `routes` now
   * @param lifetime aborted by `close`, which ends the background work of `routes`
   */
  constructor(
    route: Route,
    routes: Routes,
    { lifetime, secrets }: { lifetime: AbortController; secrets: Dependencies['secrets'] },
  ) {
    this.#route = route;
    this.#routes = routes;
    this.#lifetime = lifetime;
    this.#secrets = secrets;
  }

  get server(): URL {
    return this.#route.server;
  }

  get sameServer(): AbortSignal {
    return this.#sameServer.signal;
  }

  get validity(): Validity | undefined {
    return this.#current?.credentials.validity;
  }

  async authorize({ signal }: { signal: AbortSignal }): Promise<Authorization> {
    for (;;) {
      this.#lifetime.signal.throwIfAborted();
      const { route, ca, credentials } = await abortable(this.#parts(), signal);
      // `close` may have run meanwhile, and wouldn't close a new agent.
      this.#lifetime.signal.throwIfAborted();
      // A kubeconfig may have changed while a plugin ran: its credentials are for the server of before.
      if (route === this.#route) return this.#authorizationOf(ca, credentials);
    }
  }

  async unauthorized(used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    return this.#renew('credentials', used, options);
  }

  async connectionFailed(error: unknown, used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    return verificationFailure(error) !== undefined && this.#renew('ca', used, options);
  }

  async isStale(): Promise<boolean> {
    this.#take(await this.#routes.current());
    return this.#routes.isStale ?? false;
  }

  close(): void {
    this.#lifetime.abort(new ClusterAuthError('CLUSTER_CLOSED', `the connection to ${this.server.host} is closed`));
    this.#closeAgents();
  }

  async #parts() {
    const route = await this.#routes.current();
    this.#take(route);
    const [ca, credentials] = await Promise.all([route.ca.current(), route.credentials.current()]);
    return { route, ca, credentials };
  }

  async #renew(part: 'ca' | 'credentials', used: Authorization, options: { signal: AbortSignal }): Promise<boolean> {
    const renewed = async (): Promise<void> => {
      // A kubeconfig may have them itself.
      await this.#routes.renew();
      await (await this.#routes.current())[part].renew();
    };
    try {
      await abortable(renewed(), options.signal);
      return (await this.authorize(options)) !== used;
    } catch {
      options.signal.throwIfAborted();
      // Nothing new to retry with. The next authorize() fails in the same way, and reports it.
      return false;
    }
  }

  /** Uses a route from now on. */
  #take(route: Route): void {
    if (route === this.#route || this.#lifetime.signal.aborted) return;
    const isSame = isSameServer(route, this.#route);
    this.#route = route;
    this.#current = undefined;
    if (isSame) return;
    const before = this.#sameServer;
    this.#sameServer = new AbortController();
    before.abort(new ClusterAuthError('CLUSTER_CLOSED', `the kubeconfig now names ${route.server.host}`));
    this.#closeAgents();
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
    const { server, headers: own } = this.#route;
    const agent = sameTls ? last.authorization.agent : this.#replaceAgent(ca, credentials);
    const { authorization: value } = credentials;
    const headers = { ...own, ...(value !== undefined && { authorization: value }) };
    this.#current = { ca, credentials, authorization: { server, agent, headers } };
    return this.#current.authorization;
  }

  #replaceAgent(ca: string | undefined, { keyPair }: Credentials): Agent {
    const { server, tlsServerName, tunnel, insecure } = this.#route;
    const agent =
      server.protocol === 'http:' ? createPlainAgent() : createAgent({ ca, keyPair, tlsServerName, tunnel, insecure });
    if (this.#agent !== undefined) {
      retire(this.#agent);
      this.#retired = [...this.#retired.filter(isBusy), this.#agent];
    }
    this.#agent = agent;
    return agent;
  }

  #closeAgents(): void {
    for (const agent of this.#retired) agent.destroy();
    this.#agent?.destroy();
    this.#retired = [];
    this.#agent = undefined;
  }
}
