import { spawn } from 'node:child_process';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { eventually } from '@kube-semaphore/eventually';
import { expect, it, onTestFinished } from 'vitest';
import { certificate, kubeconfigOf, startListening } from './support/api-server.ts';
import { run, start } from './support/run.ts';

type Pod = {
  readonly metadata: { readonly name: string; readonly labels?: object; readonly uid?: string };
  readonly spec: {
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly env?: readonly { value: string }[];
    }[];
  };
  status: { phase: string; podIPs?: readonly { ip: string }[] };
};

const PODS = '/api/v1/namespaces/default/pods';

/** A cluster whose Pods are processes of this machine, which listen on one address. */
async function startCluster(ip: string, { phase }: { readonly phase?: string } = {}) {
  const pods = new Map<string, Pod>();
  const logs = new Map<string, string>();
  const created: string[] = [];
  const listen = `const { Server } = require('net'), { listen } = Server.prototype;
    Server.prototype.listen = function (port) { return listen.call(this, port, '${ip}'); };`;
  const runPod = (pod: Pod): void => {
    const { command, env = [] } = pod.spec.containers[0]!;
    const child = spawn(process.execPath, ['-e', `${listen}${command[2]}`], {
      env: Object.fromEntries(env.map(({ value }) => ['TARGETS', value])),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    void text(child.stdout).then((log) => {
      logs.set(pod.metadata.name, log);
      pod.status.phase = 'Succeeded';
    });
    pod.status = { phase: phase ?? 'Running', podIPs: [{ ip }] };
  };
  const server = createServer(certificate, (request, response) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const name = pathname.replace(`${PODS}/`, '').replace('/log', '');
      const answer = (code: number, said: unknown): void => void response.writeHead(code).end(JSON.stringify(said));
      if (pathname === '/api/v1/pods')
        return answer(200, { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] });
      if (request.method === 'DELETE') return answer(pods.delete(name) ? 200 : 404, { message: 'not found' });
      if (request.method === 'POST') {
        const made = { ...(JSON.parse(body) as Pod), status: { phase: 'Pending' } };
        created.push(made.metadata.name);
        if (pathname === PODS) {
          pods.set(made.metadata.name, made);
          runPod(made);
        }
        return answer(201, { metadata: { uid: 'u' } });
      }
      if (pathname.endsWith('/log')) return void response.end(logs.get(name));
      const items = [...pods.values()].map((pod) => ({ ...pod, metadata: { ...pod.metadata, uid: 'u' } }));
      const isOfTests = searchParams.get('labelSelector') === 'app.kubernetes.io/managed-by=semaphore-test';
      if (pathname === PODS) return answer(200, { metadata: {}, items: isOfTests ? items : [] });
      const found = items.find(({ metadata }) => metadata.name === name);
      return found === undefined ? answer(404, { message: 'not found' }) : answer(200, found);
    });
  });
  return { url: `https://127.0.0.1:${await startListening(server)}`, pods, created };
}

/** The words of `test` with two clusters. */
async function wordsFor(c1: { url: string }, c2: { url: string }): Promise<readonly string[]> {
  const kubeconfig = await kubeconfigOf({ c1: c1.url, c2: c2.url });
  return ['test', '--kubeconfig', kubeconfig, '--context=c1', '--context=c2', '--image=node:24'];
}

const left = (name: string, phase: string): [string, Pod] => [
  name,
  { metadata: { name }, spec: { containers: [] }, status: { phase } },
];

it('calls each cluster from the other, prints what came through, and leaves only the Pods of other runs', async () => {
  const [c1, c2] = [await startCluster('127.13.1.1'), await startCluster('127.13.1.2')];
  for (const pod of [left('killed', 'Failed'), left('elsewhere', 'Running')]) c1.pods.set(...pod);
  const { code, stdout, stderr } = await run(...(await wordsFor(c1, c2)));
  expect([code, stderr]).toEqual([0, '']);
  const rows = stdout
    .replaceAll(/[\d.]+ (ms|MB\/s)/g, '9 $1')
    .replaceAll(/ +/g, ' ')
    .split('\n');
  expect(rows).toEqual([
    'FROM TO BY SMALL FULL LATENCY THROUGHPUT',
    'c1 c2 pod IPv4 ✓ ✓ 9 ms 9 MB/s',
    'c2 c1 pod IPv4 ✓ ✓ 9 ms 9 MB/s',
    '',
  ]);
  expect([...c1.pods.keys(), ...c2.pods.keys()]).toEqual(['elsewhere']);
  expect(c1.created).toHaveLength(3);
});

it('calls all clusters that answer, and names those that do not', async () => {
  const [c1, c2, away] = [
    await startCluster('127.13.5.1'),
    await startCluster('127.13.5.2'),
    await startCluster('127.13.5.3', { phase: 'Failed' }),
  ];
  const kubeconfig = await kubeconfigOf({ c1: c1.url, c2: c2.url, c3: away.url, c4: 'https://127.0.0.1:1' });
  const contexts = ['c1', 'c2', 'c3', 'c4'].map((name) => `--context=${name}`);
  const { code, stdout, stderr } = await run('test', '--kubeconfig', kubeconfig, '--image=node:24', ...contexts);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ +/).slice(0, 6).join(' '));
  expect([code, rows]).toEqual([1, ['FROM TO BY SMALL FULL LATENCY', 'c1 c2 pod IPv4 ✓ ✓', 'c2 c1 pod IPv4 ✓ ✓']]);
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^c4: https:\/\/127\.0\.0\.1:1 is not reached: /),
    expect.stringMatching(/^c3: the Pod default\/semaphore-test-\w+ is Failed, not Running: see kubectl describe$/),
    '',
  ]);
  expect([c1, c2, away].map(({ pods }) => pods.size)).toEqual([0, 0, 0]);
});

it('prints JSON', async () => {
  const [c1, c2] = [await startCluster('127.13.4.1'), await startCluster('127.13.4.2')];
  const { code, stdout } = await run(...(await wordsFor(c1, c2)), '-o', 'json');
  expect(code).toBe(0);
  const answered = { by: 'pod', small: null, full: null };
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: '1',
    calls: [
      { from: 'c1', to: 'c2', ...answered },
      { from: 'c2', to: 'c1', ...answered },
    ],
  });
});

it('removes its Pods when it is interrupted', async () => {
  const [c1, c2] = [await startCluster('127.13.2.1'), await startCluster('127.13.2.2', { phase: 'Pending' })];
  const test = start(...(await wordsFor(c1, c2)));
  await eventually(() => c1.pods.size > 0 && c2.pods.size > 0, true);
  expect(await test.stop('SIGINT')).toMatchObject({ code: 130 });
  expect([c1.pods.size, c2.pods.size]).toEqual([0, 0]);
});

it('ends with 2 for a single cluster', async () => {
  const c1 = await startCluster('127.13.3.1');
  const kubeconfig = await kubeconfigOf({ c1: c1.url }, 'c1');
  const stderr = 'semaphore: a test needs two clusters: use --context twice or more\n';
  expect(await run('test', '--kubeconfig', kubeconfig)).toEqual({ code: 2, stdout: '', stderr });
});
