// A node whose keys rotate, and one that its Pod talks with all the time.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { builtBinary, deployAccount, node, spawnProgram } from '@kube-semaphore/testkit';
import { startPing } from '@kube-semaphore/testnet';
import { type NodeFacts, type NodeSite, startNode } from './node.ts';
import { type Change, type Clusters, remotes, type Site, type SiteInput, type View } from '../subject.ts';

/** The node that answers: the second of the network. */
const LIVES = {
  name: 'lives',
  cluster: 'c2',
  ip: '172.31.0.2',
  podCIDR: '10.4.200.0/24',
  podIp: '10.4.200.10',
} as const;
const OWN_POD = '10.1.1.10';

/** Of each remote, beside `wgListenPort`. */
export const secondPorts: Readonly<Record<string, number>> = Object.fromEntries(
  remotes.map((name, nth) => [name, 51_922 + nth]),
);

/** Its Node, which its agent announces. */
export const livingNode: Change = {
  cluster: LIVES.cluster,
  collection: '/api/v1/nodes',
  name: LIVES.name,
  object: {
    ...node({ name: LIVES.name, podCIDRs: [LIVES.podCIDR], internalIPs: [LIVES.ip] }),
    status: {
      addresses: [{ type: 'InternalIP', address: LIVES.ip }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  },
};

/** The site of semaphore-wireguard with `keyRotation`. */
export async function startRotatingNode(facts: NodeFacts, clusters: Clusters, input: SiteInput): Promise<Site> {
  const { stack } = input;
  const site = await startNode({ ...facts, harmOf: () => [] }, clusters, input);
  const { machine, keys, sh, callsSoFar } = site;
  const { pod: otherPod, agent } = await startOther(site, clusters, input);
  stack.defer(async () => void (await agent.stop('SIGKILL')));
  const pod = await machine.addPod([OWN_POD]);
  const ways = [
    { from: pod, to: LIVES.podIp },
    { from: otherPod, to: OWN_POD },
  ];
  const startPings = () => Promise.all(ways.map(({ from, to }) => startPing(from, to, { intervalMs: 100 })));
  let pings: Awaited<ReturnType<typeof startPings>> | undefined;
  const planes = new Planes(facts.staying);
  let seen = 0;
  let inFile: readonly string[] = [];
  const request = async (remote: string) => void (await sh(`: > ${keys}/wireguard.${remote}.key.rotate`));
  return {
    ...site,
    async observed(remotes) {
      inFile = remotes;
      const [base, { metadata }] = await Promise.all([
        site.observed(remotes),
        clusters.c1.admin.get('/api/v1/nodes/n1'),
      ]);
      const all = remotes.map(async (remote) => {
        const file = `${keys}/wireguard.${remote}.key`;
        const publicKey = (await sh(`wg pubkey < ${file}`)).trim();
        const isOver = `[ ! -e ${file}.next ] && { [ ! -e ${file}.rotate ] || [ ${file} -nt ${file}.rotate ]; }`;
        const state = (await sh(`if ${isOver}; then echo over; else echo open; fi`)).trim();
        return [remote, { publicKey, state, ports: planesOf(metadata, remote) }] as const;
      });
      return rotatedView(base, Object.fromEntries(await Promise.all(all)));
    },
    async harm(left) {
      const all = await callsSoFar();
      const found = all.slice(seen).flatMap((call) => planes.made(call, left));
      seen = all.length;
      const results = await Promise.all((pings ?? []).map((ping) => ping.stop()));
      const lost = results.map((each, nth) => ({ ...each, to: ways[nth]!.to })).filter((each) => each.lost > 0);
      // The next round begins with a tunnel that works, or without one.
      try {
        pings = inFile.includes(LIVES.cluster) ? await startPings() : undefined;
      } catch (error) {
        found.push(`the Pods don't reach each other: ${String(error)}`);
      }
      // Each round has a rotation, whose steps its events meet.
      await request(LIVES.cluster);
      const privateKeys = await site.secrets();
      const told = JSON.stringify([all, await clusters.c1.admin.get('/api/v1/nodes/n1')]);
      if (privateKeys.some((key) => told.includes(key))) found.push('a private key is in a call, or in our Node');
      return [
        ...found,
        ...(await site.harm(left)),
        ...(left.has(LIVES.cluster)
          ? []
          : lost.map(({ to, lost: count, received }) => `${count} of ${count + received} pings to ${to} were lost`)),
      ];
    },
    tamper: (nth) => request(remotes[nth % remotes.length]!),
  };
}

/** The Node that answers, with its agent and a Pod. */
async function startOther({ network }: NodeSite, { c1, c2 }: Clusters, { launcher, dir }: SiteInput) {
  const other = await network.addNode('c2-lives');
  for (const { url } of [c1, c2]) await other.forward(Number(new URL(url).port));
  const [own, reader] = await Promise.all([deployAccount(c2, 'wireguard/base'), deployAccount(c1, 'wireguard/remote')]);
  const file = join(dir, 'lives.json');
  await writeFile(
    file,
    JSON.stringify({
      local: { name: 'c2', kubeConfigPath: own.kubeconfig },
      remotes: [
        {
          name: 'c1',
          kubeConfigPath: reader.kubeconfig,
          podSubnet: '10.1.0.0/16',
          wgListenPort: 51_821,
          keyRotation: { secondPort: 51_921 },
        },
      ],
    }),
  );
  const flags = [`-clusters-config=${file}`, `-node-name=${LIVES.name}`, `-wg-key-path=${join(dir, 'keys-of-lives')}`];
  const env = { PATH: `${dirname(builtBinary('wireguard-go'))}:${process.env['PATH']}` };
  const program = spawnProgram(launcher, ['-listen-address=127.0.0.1:0', '-observe-period=1s', ...flags], env, {
    place: other,
  });
  const annotation = 'c1.wireguard.semaphore.uw.io/pubKey';
  await eventually(
    async () => (await c2.admin.get(`/api/v1/nodes/${LIVES.name}`)).metadata.annotations?.[annotation],
    isDefined,
    { what: 'the Node that answers to be announced' },
  );
  return { pod: await other.addPod([LIVES.podIp]), agent: program };
}

const planesOf = ({ annotations = {} }: KubeObject['metadata'], remote: string): string =>
  annotations[`${remote}.wireguard.semaphore.uw.io/planes`] ?? 'none';

/** What no page says is which key it is: only that the file, the device and our Node have the same one. */
const ROTATED = 'that of its file';

/** @param found of each remote; `state`: whether a rotation that was asked for is over */
export function rotatedView(
  view: View,
  found: Readonly<Record<string, { readonly publicKey: string; readonly state: string; readonly ports: string }>>,
): View {
  const devices = Object.entries(found).flatMap(([remote, { publicKey, state, ports }]) => {
    const device = view[`wireguard.${remote}`] as { publicKey: string; announced?: { pubKey?: string } } | undefined;
    const nameOf = (key: string | undefined) => (key === publicKey ? ROTATED : key);
    return device === undefined
      ? []
      : [
          [
            `wireguard.${remote}`,
            {
              ...device,
              publicKey: nameOf(device.publicKey),
              announced: { ...device.announced, pubKey: nameOf(device.announced?.pubKey), planes: ports },
              rotation: state,
            },
          ] as const,
        ];
  });
  return { ...view, ...Object.fromEntries(devices) };
}

/** The CIDRs of the entries of both devices of each remote, by the calls of the agent. Exported for its test. */
export class Planes {
  readonly #staying: NodeFacts['staying'];
  /** By device, then by CIDR: the key that has it. */
  readonly #devices = new Map<string, Map<string, string>>();
  readonly #complete = new Set<string>();

  constructor(staying: NodeFacts['staying']) {
    this.#staying = staying;
  }

  /** What a call did that it never should. @param left remotes that weren't in the file meanwhile */
  made(call: string, left: ReadonlySet<string>): readonly string[] {
    const words = call.split(' ');
    const device = words[words.indexOf('dev') + 1 || words.indexOf('set') + 1]!;
    const remote = /^wireguard\.(c\d)(\.1)?$/.exec(device)?.[1];
    if (remote === undefined) return [`a call for a device of others: ${call}`];
    if (words.includes('link') && (words.includes('delete') || words.includes('add'))) this.#devices.delete(device);
    for (const text of call.split(' peer ').slice(1)) this.#setPeer(device, text.split(' '));
    return this.#staying
      .filter(({ cluster }) => cluster === remote)
      .flatMap(({ podCIDRs }) => podCIDRs)
      .flatMap((cidr) => {
        const isThere = [...this.#devices].some(
          ([name, cidrs]) => name.startsWith(`wireguard.${remote}`) && cidrs.has(cidr),
        );
        const wasThere = this.#complete.has(cidr);
        if (isThere) this.#complete.add(cidr);
        else this.#complete.delete(cidr);
        return wasThere && !isThere && !left.has(remote) ? [`${cidr} is in no device: ${call}`] : [];
      });
  }

  #setPeer(device: string, [key = '', ...rest]: readonly string[]): void {
    const cidrs = this.#devices.get(device) ?? new Map<string, string>();
    this.#devices.set(device, cidrs);
    const at = rest.indexOf('allowed-ips');
    if (at === -1 && !rest.includes('remove')) return;
    for (const [cidr, owner] of cidrs) if (owner === key) cidrs.delete(cidr);
    if (!rest.includes('remove')) for (const cidr of rest[at + 1]!.split(',')) cidrs.set(cidr, key);
  }
}
