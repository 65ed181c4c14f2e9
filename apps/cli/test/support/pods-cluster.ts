import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Place } from '@kube-semaphore/testnet';
import { onTestFinished } from 'vitest';
import { certificate, startListening } from './api-server.ts';

type Pod = {
  readonly metadata: { readonly name: string; readonly labels?: object; readonly uid?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
  status: { phase: string; podIPs?: readonly { ip: string }[] };
};

type PodsClusterOptions = {
  /** Of its Pods; they don't end, unless they run. */
  readonly phase?: string;
  /** Where its Pods run. Default: on this machine. */
  readonly place?: Place;
  /** The program of the Pod that answers, instead of what `semaphore` wants. */
  readonly answers?: string;
  /** What a Pod that calls prints, without a call. */
  readonly prints?: object;
  /** What the agent of semaphore-wireguard on the node says. */
  readonly agent?: () => object;
  /** Of its Pods. */
  readonly namespace?: string;
  /** Other objects and lists by path, with the label selector as its query. */
  readonly objects?: Readonly<Record<string, object>>;
  /** Addresses of names that its Pods call. */
  readonly names?: Readonly<Record<string, string>>;
};

const AGENT = {
  metadata: { name: 'agent', namespace: 'kube-system', labels: { app: 'semaphore-wireguard' } },
  spec: { nodeName: 'n1', containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

/** A cluster with a node `n1`, whose Pods are processes, which listen on one address. */
export async function startPodsCluster(
  ip: string,
  { phase, place, answers, prints, agent, namespace = 'default', objects = {}, names = {} }: PodsClusterOptions = {},
): Promise<{ url: string; pods: Map<string, Pod>; created: string[] }> {
  const PODS = `/api/v1/namespaces/${namespace}/pods`;
  const pods = new Map<string, Pod>();
  const logs = new Map<string, string>();
  const children = new Map<string, ChildProcess>();
  const created: string[] = [];
  const listen = `const { Server } = require('net'), { listen } = Server.prototype;
    Server.prototype.listen = function (port) { return listen.call(this, port, '${ip}'); };
    const dns = require('dns'), { lookup } = dns, names = ${JSON.stringify(names)};
    dns.lookup = (name, ...rest) => lookup(names[name] ?? name, ...rest);`;
  const runPod = (pod: Pod): void => {
    const { command, env = [] } = pod.spec.containers[0]!;
    const isCaller = env.length > 0;
    const program = `${listen}${isCaller ? command[2] : (answers ?? command[2])}`;
    const args = [
      '-e',
      isCaller && prints !== undefined ? `console.log(${JSON.stringify(JSON.stringify(prints))})` : program,
    ];
    const child = (place?.spawn.bind(place) ?? spawn)(process.execPath, args, {
      // The only one without a value is of the downward API.
      env: { PATH: process.env['PATH'], ...Object.fromEntries(env.map(({ name, value = ip }) => [name, value])) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.set(pod.metadata.name, child);
    onTestFinished(() => void child.kill('SIGKILL'));
    void text(child.stdout!).then((log) => {
      logs.set(pod.metadata.name, log);
      pod.status.phase = 'Succeeded';
    });
    pod.status = { phase: phase ?? 'Running', podIPs: [{ ip }] };
  };
  const end = async (name: string): Promise<void> => {
    const child = children.get(name);
    if (child?.kill('SIGKILL') === true) await once(child, 'exit');
  };
  const server = createServer(certificate, (request, response) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const name = pathname.replace(`${PODS}/`, '').replace('/log', '');
      const answer = (code: number, said: unknown): void => void response.writeHead(code).end(JSON.stringify(said));
      const selector = searchParams.get('labelSelector');
      const object = objects[selector === null ? pathname : `${pathname}?${selector}`];
      if (request.method === 'GET' && object !== undefined) return answer(200, object);
      if (pathname === '/api/v1/pods') {
        const items = agent === undefined ? [] : [AGENT];
        return answer(200, { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items });
      }
      if (pathname.endsWith('/agent:8080/proxy/status')) return answer(200, agent?.());
      if (request.method === 'DELETE') {
        void end(name).then(() => answer(pods.delete(name) ? 200 : 404, { message: 'not found' }));
        return undefined;
      }
      if (request.method === 'POST') {
        const made = { ...(JSON.parse(body) as Pod), status: { phase: 'Pending' } };
        created.push(made.metadata.name);
        if (pathname === PODS) {
          pods.set(made.metadata.name, { ...made, spec: { ...made.spec, nodeName: 'n1' } });
          runPod(pods.get(made.metadata.name)!);
        }
        return answer(201, { metadata: { uid: 'u' } });
      }
      if (pathname.endsWith('/log')) return void response.end(logs.get(name));
      const items = [...pods.values()].map((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: 'u' } }));
      const isOfTests = selector === 'app.kubernetes.io/managed-by=semaphore-test';
      if (pathname === PODS) return answer(200, { metadata: {}, items: isOfTests ? items : [] });
      const found = items.find(({ metadata }) => metadata.name === name);
      return found === undefined ? answer(404, { message: 'not found' }) : answer(200, found);
    });
  });
  return { url: `https://127.0.0.1:${await startListening(server)}`, pods, created };
}
