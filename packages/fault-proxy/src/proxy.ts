import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAuthority,
  type Credentials,
  requestInfo,
  type TestCluster,
  writeKubeconfig,
} from '@kube-semaphore/embedded-apiserver';
import { Exchange } from './exchange.ts';
import type { Fault, FaultKind } from './fault.ts';
import type { FilteredRequest, RequestFilter } from './filter.ts';
import { Port } from './port.ts';
import { Switchboard } from './switchboard.ts';

/** A request that came through a fault proxy, or didn't. */
export type SeenRequest = FilteredRequest & {
  /** When its head was read, in ms as of `performance.now()`. */
  readonly at: number;
  /** The faults that struck it so far. */
  readonly faults: readonly FaultKind[];
};

/** Takes a fault back; resolves when things are as they would be without it. Idempotent. */
type Undo = () => Promise<void>;

/**
 * Something between a program and the API server of a test cluster, which at first does nothing but pass on what it
 * gets: every byte at once, Authorization included. It speaks HTTP/1.1, without upgrades (exec, port-forward).
 */
export interface FaultProxy extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`, without a trailing slash; it stays the same. */
  readonly url: string;
  /** PEM file of the CA that signed the proxy's certificate, which isn't the cluster's. */
  readonly caFile: string;
  /** Writes a kubeconfig that leads here, for a token, or for one in a file that may be replaced. Returns its path. */
  kubeconfig(credentials: string | { readonly token: string } | { readonly tokenFile: string }): Promise<string>;
  /**
   * Makes a fault happen from now on: to the requests that the filter lets through, or to all, and then also to
   * connections as such. A watch that is open stalls, is delayed, truncated, cut or reset too; other faults are for
   * requests to come. Faults may be had together; of those that answer in the API server's place the first one does.
   *
   * @throws {TypeError} for `refuse` with a filter: whom a port is closed to can't be known
   */
  set(fault: Fault, filter?: RequestFilter): Promise<Undo>;
  /** Takes all faults back. */
  clear(): Promise<void>;
  /** Oldest first. What was refused, or reset or stalled before a request could be read, isn't among them. */
  requests(): readonly SeenRequest[];
  /** Of these, those whose answers aren't complete yet: open watches, and what is on its way. */
  underWay(): readonly FilteredRequest[];
  /** Resets all connections, closes the port and removes the files. Idempotent. */
  stop(): Promise<void>;
}

/** Puts a fault proxy in front of the API server of a cluster of either kind. Stop it before the cluster, or after. */
export async function startFaultProxy(cluster: Pick<TestCluster, 'name' | 'url' | 'caFile'>): Promise<FaultProxy> {
  const authority = await createAuthority();
  const names = { dnsNames: ['localhost'], ips: ['127.0.0.1'] };
  const certificate = await authority.issue({ usage: 'server', commonName: 'fault-proxy', ...names });
  const agent = new Agent({ ca: await readFile(cluster.caFile), keepAlive: true });
  const log: SeenRequest[] = [];
  const switchboard = new Switchboard({ resetAll: () => port.resetAll() });
  const port: Port = new Port({ certificate, admit: () => switchboard.admission, onRequest });

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
  /** Opens or closes the port as the faults will have it: one after the other, as two may be changed at a time. */
  const settle = () => {
    port.reconsider();
    // Whether it worked before is for others to know.
    settled = settled.catch(() => {}).then(() => (stopped || switchboard.refuses ? port.close() : port.open()));
    return settled;
  };

  const { caPem } = authority;
  const dir = await mkdtemp(join(tmpdir(), 'fault-proxy-'));
  const caFile = join(dir, 'ca.crt');
  await writeFile(caFile, caPem);
  let kubeconfigs = 0;
  await port.openAny();
  const url = `https://127.0.0.1:${port.number}`;

  const proxy: FaultProxy = {
    url,
    caFile,
    kubeconfig(credentials) {
      const file = join(dir, `${(kubeconfigs += 1)}.kubeconfig`);
      return writeKubeconfig(file, { name: cluster.name, url, caPem, credentials: asCredentials(credentials) });
    },
    async set(fault, filter) {
      const unset = switchboard.set(fault, filter);
      await settle();
      return () => {
        unset();
        return settle();
      };
    },
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
  // An account has both, and of both the token is what the API server knows by itself.
  return 'token' in given ? { token: given.token } : { tokenFile: given.tokenFile };
}
