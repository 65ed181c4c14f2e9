import { randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { createPod, type RealCluster } from '@kube-semaphore/testkit';
import { type Fleet, type Member, pathOf } from './fleet.ts';

/** Pods in one transaction: etcd accepts requests of 1.5 MiB, and a pod takes 13 kB. */
const BATCH = 64;

/** The texts in which a pod differs from another. */
type Texts = Readonly<Record<string, string>>;

/**
 * Writes pods into a real cluster's etcd, where its API server sees them as it sees writes of its peers. 50,000 take half
 * a minute, instead of 4 minutes through the API. The first pod is made through the API. The others are its bytes with
 * other names, so all have this server's format. The namespaces must exist.
 *
 * @throws {Error} if the API server reads another pod than was written, as nothing validates writes to etcd
 */
export async function seedEtcd({ admin, etcdSocket }: RealCluster, fleet: Fleet): Promise<void> {
  const [first, ...others] = fleet.members;
  if (first === undefined) return;
  const { metadata, spec } = await createPod(admin, fleet.object(first));
  const agent = new Agent({ keepAlive: true });
  try {
    const etcd = (path: string, body: object) => call({ socketPath: etcdSocket, agent, path }, JSON.stringify(body));
    const { kvs = [] } = (await etcd('/v3/kv/range', { key: keyOf(first) })) as { kvs?: { value: string }[] };
    const template = Buffer.from(kvs[0]?.value ?? '', 'base64');
    const placeholders = { ...first, uid: metadata.uid ?? '' };
    for (let from = 0; from < others.length; from += BATCH) {
      const success = others.slice(from, from + BATCH).map((member) => {
        const value = stamp(template, placeholders, { ...member, uid: randomUUID() }).toString('base64');
        return { requestPut: { key: keyOf(member), value } };
      });
      await etcd('/v3/kv/txn', { success });
    }
  } finally {
    agent.destroy();
  }
  const last = others.at(-1) ?? first;
  const stored = await admin.get(pathOf(last));
  const { podIPs } = stored['status'] as { podIPs: unknown };
  const seen = { labels: stored.metadata.labels, name: stored.metadata.name, podIPs, spec: stored['spec'] };
  const { labels } = fleet.object(last).metadata;
  if (!isDeepStrictEqual(seen, { labels, name: last.name, podIPs: [{ ip: last.ip }], spec }))
    throw new Error(`the API server returns another ${last.name} than was written`);
}

/**
 * Replaces texts in bytes by others of the same length, which keeps every length prefix valid. So one protobuf object
 * becomes another, without its schema.
 *
 * @throws {RangeError} if a text isn't as long as what it replaces
 */
export function stamp(template: Buffer, placeholders: Texts, texts: Texts): Buffer {
  const other = new Map(Object.entries(placeholders).map(([key, text]) => [text, texts[key] ?? '']));
  for (const [from, to] of other)
    if (from.length !== to.length) throw new RangeError(`${to} must be as long as ${from}`);
  const stamped = template.toString('latin1').replaceAll(RegExp([...other.keys()].join('|'), 'g'), (found) => {
    return other.get(found) ?? found;
  });
  return Buffer.from(stamped, 'latin1');
}

/** Calls etcd's JSON API. */
async function call(options: { socketPath: string; agent: Agent; path: string }, body: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { 'content-length': Buffer.byteLength(body) };
  request({ ...options, method: 'POST', headers }, resolve)
    .on('error', reject)
    .end(body);
  const response = await promise;
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`etcd answers ${response.statusCode} to ${options.path}: ${answer}`);
  return JSON.parse(answer);
}

/** The etcd key of a pod in base64, with kube-apiserver's default `--etcd-prefix`. */
function keyOf({ namespace, name }: Member): string {
  return Buffer.from(`/registry/pods/${namespace}/${name}`).toString('base64');
}
