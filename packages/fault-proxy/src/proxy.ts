import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAgent,
  type Credentials,
  requestInfo,
  type TestCluster,
  writeKubeconfig,
} from '@kube-semaphore/embedded-apiserver';
import { Exchange } from './exchange.ts';
import type { Fault, FaultKind } from './fault.ts';
import type { FilteredRequest, RequestFilter } from './filter.ts';
import { Identity } from './identity.ts';
import { Port } from './port.ts';
import { Switchboard } from './switchboard.ts';

/** A request that reached a fault proxy. */
export type SeenRequest = FilteredRequest & {
  /** When its head was read, by `performance.now()`. */
  readonly at: number;
  /** The faults that affected it so far. */
  readonly faults: readonly FaultKind[];
};

/** Removes a fault; resolves when its effect is over. Idempotent. */
type Undo = () => Promise<void>;

/**
 * A proxy between a program and the API server of a test cluster. Without faults it passes everything on
 * at once, including Authorization. It speaks HTTP/1.1, without upgrades (exec, port-forward).
 */
export interface FaultProxy extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`, without a trailing slash. It never changes. */
  readonly url: string;
  /** PEM file of the CA that signed the proxy's certificate; it isn't the cluster's CA. */
  readonly caFile: string;
  /**
   * Writes a kubeconfig for the proxy's URL, with a token or the path of a token file; then the CA is a path, too. Returns
   * its path.
   */
  kubeconfig(credentials: string | { readonly token: string } | { readonly tokenFile: string }): Promise<string>;
  /**
   * Sets a fault from now on, for the requests that match the filter. Without a filter it affects all requests and
   * connections. `stall`, `delay`, `truncate`, `cut` and `reset` also affect open watches; other faults affect
   * new requests only. Faults can be combined; of those that answer in the API server's place, the first does.
   *
   * @throws {TypeError} for `refuse` and `certificate` with a filter, because no request is known yet
   */
  set(fault: Fault, filter?: RequestFilter): Promise<Undo>;
  /** Adds another CA to `caFile`. Who read the file before must read it again. */
  announceCa(): Promise<void>;
  /** New connections get a certificate of the CA that was announced, or of one that wasn't; all are new. */
  changeCa(): Promise<void>;
  /** Leaves only the present CA in `caFile`. */
  removeOldCa(): Promise<void>;
  /** Removes all faults. */
  clear(): Promise<void>;
  /** Oldest first. Without connections that were refused, reset or stalled before a request was read. */
  requests(): readonly SeenRequest[];
  /** The requests without a complete answer: open watches and requests in flight. */
  underWay(): readonly FilteredRequest[];
  /** Resets all connections, closes the port and removes the files. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a fault proxy for the API server of an embedded or real cluster. Stop it before or after the cluster. */
export async function startFaultProxy(cluster: Pick<TestCluster, 'name' | 'url' | 'caFile'>): Promise<FaultProxy> {
  const dir = await mkdtemp(join(tmpdir(), 'fault-proxy-'));
  const identity = await Identity.create(join(dir, 'ca.crt'));
  const { caFile } = identity;
  let presented = await identity.certificate();
  const agent = createAgent(await readFile(cluster.caFile, 'utf8'));
  const log: SeenRequest[] = [];
  const switchboard = new Switchboard({ resetAll: () => port.resetAll() });
  const port: Port = new Port({ certificate: presented, admit: () => switchboard.admission, onRequest });

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: target = '' } = request;
    const seen = { method, target, verb: requestInfo(method, target).verb };
    const reset = () => port.reset(request.socket);
    const exchange = new Exchange({ seen, request, response, url: cluster.url, agent, reset });
    log.push({ ...seen, at: performance.now(), faults: exchange.faults.history });
    switchboard.enter(exchange);
    void exchange.run().finally(() => switchboard.leave(exchange));
  }

  let stopped = false;
  let settled = Promise.resolve();
  const present = async () => {
    const certificate = await identity.certificate(switchboard.certificateOf);
    if (certificate !== presented) port.present(certificate);
    presented = certificate;
  };
  /** Opens or closes the port, as the faults require. Serialized, because two faults may change at once. */
  const settle = () => {
    port.reconsider();
    // The caller of the earlier change handles its error.
    settled = settled
      .catch(() => {})
      .then(async () => {
        await present();
        await (stopped || switchboard.refuses ? port.close() : port.open());
      });
    return settled;
  };

  let kubeconfigs = 0;
  await port.openAny();
  const url = `https://127.0.0.1:${port.number}`;

  const proxy: FaultProxy = {
    url,
    caFile,
    kubeconfig(credentials) {
      const file = join(dir, `${(kubeconfigs += 1)}.kubeconfig`);
      const given = asCredentials(credentials);
      const ca = 'tokenFile' in given ? { caFile } : { caPem: identity.caPem };
      return writeKubeconfig(file, { name: cluster.name, url, ...ca, credentials: given });
    },
    async set(fault, filter) {
      const unset = switchboard.set(fault, filter);
      await settle();
      return () => {
        unset();
        return settle();
      };
    },
    announceCa: () => identity.announceCa(),
    async changeCa() {
      await identity.changeCa();
      await settle();
      port.resetAll();
    },
    removeOldCa: () => identity.removeOldCa(),
    clear() {
      switchboard.clear();
      return settle();
    },
    requests: () => log,
    underWay: () => switchboard.open,
    async stop() {
      stopped = true;
      await proxy.clear();
      agent.destroy();
      await rm(dir, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => proxy.stop(),
  };
  return proxy;
}

function asCredentials(given: string | { token: string } | { tokenFile: string }): Credentials {
  if (typeof given === 'string') return { token: given };
  // An account has both; the token is enough for the API server.
  return 'token' in given ? { token: given.token } : { tokenFile: given.tokenFile };
}
