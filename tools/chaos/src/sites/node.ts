import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { builtBinary } from '@kube-semaphore/testkit';
import { type Network, type NetworkNode, startNetwork } from '@kube-semaphore/testnet';
import { type Clusters, remotes, type Site, type SiteInput, type View } from '../subject.ts';

/** How often the files of keys are read: a key is in one for longer. */
const LOOK_MS = 1_000;

const FAULTS = ['fail', 'fail, but do their work', 'hang'] as const;

export const brokenTools = FAULTS.map((how) => `wg and ip ${how}`);

/** Without a full disk: an agent that can't write a key tries again. */
export const endsBy = {
  breaks: brokenTools,
  says: /^semaphore-wireguard: the devices of this node can't be read: |"code":"WG_\w+"\},"msg":"stopped by an error"\}$/,
};

/** What can break on a node. */
export const breaks = [...brokenTools, 'disk of the keys full', 'disk of the keys read-only'];

/** Each tool writes down what it is to change, and fails or hangs one time in three while the file `fault` says so. */
const TOOL = `#!/bin/sh
here=\${0%/*} tool=\${0##*/}
fault=
[ -e "$here/fault" ] && [ $(($$ % 3)) = 0 ] && read -r fault < "$here/fault"
case $fault in
  fail) echo "it is broken" >&2; exit 1 ;;
  hang) exec sleep 30 ;;
esac
case " $* " in
  *" show "* | *" get "* | *" monitor "*) ;;
  *) printf '%s\\n' "$tool $*" >> "$here/calls" ;;
esac
PATH=\${PATH#*:}
[ -n "$fault" ] || exec "$tool" "$@"
"$tool" "$@"
echo "it is broken" >&2
exit 1
`;

/** A device, a route and an address of somebody else, beside ours. The link swallows what is for nodes that don't exist. */
const FOREIGN = { device: 'wg-foreign', link: 'foreign0', ip: '192.0.2.10' } as const;

export type NodeFacts = {
  /** By remote. */
  readonly privateKeys: Readonly<Record<string, string>>;
  /** Peers that stay. */
  readonly staying: readonly { readonly cluster: string; readonly key: string; readonly podCIDRs: readonly string[] }[];
  /** Whether two CIDRs have an address in common. */
  readonly overlap: (a: string, b: string) => boolean;
  /** What of a call of the agent is never right. Default: {@link harmOf} */
  readonly harmOf?: typeof harmOf;
};

/** What others need to add to it. */
export type NodeSite = Site & {
  readonly network: Network;
  readonly machine: NetworkNode;
  /** The folder of the keys. */
  readonly keys: string;
  /** Runs a script on the node, and returns what it printed. */
  readonly sh: (script: string) => Promise<string>;
  /** What the agent called so far. */
  readonly callsSoFar: () => Promise<readonly string[]>;
  /** All private keys that files had so far. */
  readonly secrets: () => Promise<readonly string[]>;
};

/** The site of semaphore-wireguard: a node in namespaces, with a disk for keys, and `wg` and `ip` that can break. */
export async function startNode(
  facts: NodeFacts,
  { c1 }: Clusters,
  { ports, dir, stack }: SiteInput,
): Promise<NodeSite> {
  const network = await startNetwork();
  stack.defer(() => network.stop());
  const machine = await network.addNode('c1-n1');
  for (const port of ports) await machine.forward(port);
  const userspace = builtBinary('wireguard-go');
  await addForeign(machine, userspace);

  const keys = join(dir, 'keys');
  await mkdir(keys);
  const sh = (script: string) => machine.run('sh', ['-ec', `umask 077\n${script}`]);
  // Its own disk, which only the node's processes see.
  await sh(`mount -t tmpfs -o size=8m,mode=700 tmpfs ${keys}; mkdir ${keys}/backup`);
  for (const [remote, key] of Object.entries(facts.privateKeys))
    await sh(`echo '${key}' > ${keys}/wireguard.${remote}.key; cp -p ${keys}/wireguard.${remote}.key ${keys}/backup`);

  const tools = join(dir, 'tools');
  await mkdir(tools);
  for (const name of ['wg', 'ip']) await writeFile(join(tools, name), TOOL, { mode: 0o755 });
  const calls = join(tools, 'calls');
  await writeFile(calls, '');
  const callsSoFar = async () => (await readFile(calls, 'utf8')).split('\n').slice(0, -1);
  let judged = 0;
  const seen = new Set<string>();
  const look = async () => {
    // A file may go meanwhile.
    for (const key of keysIn(await sh(`cat ${keys}/*.key* 2>/dev/null || :`))) seen.add(key);
  };
  const over = new AbortController();
  const looks = (async () => {
    for (const { signal } = over; !signal.aborted; await delay(LOOK_MS, undefined, { signal }).catch(() => {}))
      await look();
  })();
  stack.defer(async () => {
    over.abort();
    await looks;
  });

  return {
    network,
    machine,
    keys,
    sh,
    callsSoFar,
    async secrets() {
      await look();
      return [...seen];
    },
    place: machine,
    env: { PATH: `${tools}:${dirname(userspace)}:${process.env['PATH']}` },
    flags: [`-wg-key-path=${keys}`],
    async observed(remotes) {
      const { annotations = {} } = (await c1.admin.get('/api/v1/nodes/n1')).metadata;
      return viewOf(await observe(machine), { annotations, remotes });
    },
    versions: async () => (await callsSoFar()).map((call, nth) => `${nth} ${call}`),
    foreign: async () => foreignIn(await observe(machine)),
    async harm(left) {
      const all = await callsSoFar();
      const found = all.slice(judged).flatMap((call) => (facts.harmOf ?? harmOf)(call, facts, left));
      judged = all.length;
      const modes = await sh(`stat -c '%a %n' ${keys} ${keys}/*.key`);
      const open = modes.split('\n').filter((line) => line !== '' && !/^(600|700) /.test(line));
      return [...found, ...open.map((line) => `others can read the keys: ${line}`)];
    },
    async tamper(nth, how) {
      const device = `wireguard.${remotes[nth % remotes.length]}`;
      if (how === 'delete') await machine.run('ip', ['link', 'delete', 'dev', device]);
      else await sh(editOf(Math.floor(nth / remotes.length), device));
    },
    async break(what) {
      const disk = /^disk of the keys (.*)$/.exec(what)?.[1];
      if (disk === undefined) {
        await writeFile(join(tools, 'fault'), what.slice('wg and ip '.length));
        return () => rm(join(tools, 'fault'));
      }
      // The files are lost, too, and come from a backup in the end: until then, only the devices have the keys.
      await sh(`rm -f ${keys}/*.key`);
      const fills = disk === 'full';
      // Another mount, as wireguard-go has its log open on the first one. The new one is busy while the agent writes a key.
      const remount = `mount -o remount,bind,ro ${keys}`;
      const readOnly = `mount --bind ${keys} ${keys}; for nth in $(seq 99); do ${remount} && exit; sleep 0.05; done; ${remount}`;
      await sh(fills ? `cat /dev/zero > ${keys}/backup/zeros || :` : readOnly);
      return async () => {
        await sh(
          `${fills ? '' : `umount -l ${keys}; `}cp -lf ${keys}/backup/*.key ${keys}; rm -f ${keys}/backup/zeros`,
        );
      };
    },
  };
}

/** The keys in a text of key files, also of one that is half written. Exported for its test. */
export const keysIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^[A-Za-z0-9+/]{43}=$/.test(line));

async function addForeign(machine: NetworkNode, userspace: string): Promise<void> {
  const { device, link, ip } = FOREIGN;
  await machine.addPod([ip], link);
  for (const range of ['198.51.100.0/24', '203.0.113.0/24'])
    await machine.run('ip', ['route', 'add', range, 'via', ip, 'dev', link, 'onlink']);
  machine.spawn(userspace, ['-f', device], { stdio: 'ignore' });
  await eventually(
    () => machine.run('wg', ['show', 'interfaces']),
    (all) => all.includes(device),
    { what: device },
  );
  const key = Buffer.alloc(32, 'foreign ').toString('base64');
  await machine.run('sh', [
    '-ec',
    `wg genkey | wg set ${device} listen-port 51999 private-key /dev/stdin peer ${key} allowed-ips 10.9.0.0/16
ip link set ${device} up
ip route add 10.9.0.0/16 dev ${device}`,
  ]);
}

/** What `wg` and `ip` show of the node. */
async function observe(machine: NetworkNode) {
  const json = async (...args: readonly string[]) => JSON.parse((await machine.run('ip', ['-json', ...args])) || '[]');
  const [dump, links, four, six] = await Promise.all([
    machine.run('wg', ['show', 'all', 'dump']),
    json('-details', 'link', 'show'),
    json('-N', '-4', 'route', 'show'),
    json('-N', '-6', 'route', 'show'),
  ]);
  return {
    /** Of devices, then of their peers. */
    lines: dump.split('\n').map((line) => line.split('\t')),
    links: links as {
      readonly ifname: string;
      readonly ifalias?: string;
      readonly mtu: number;
      readonly flags: string[];
    }[],
    routes: [...four, ...six] as { readonly dst: string; readonly dev?: string; readonly protocol: string }[],
  };
}

type Observed = Awaited<ReturnType<typeof observe>>;

const MARK = 'semaphore-wireguard';

function viewOf(
  { lines, links, routes }: Observed,
  {
    annotations,
    remotes,
  }: { readonly annotations: Readonly<Record<string, string>>; readonly remotes: readonly string[] },
): View {
  const view: Record<string, object> = {};
  for (const { ifname: device, ifalias: alias = '', mtu, flags } of links.filter((link) => isOurs(link))) {
    const remote = device.split('.')[1]!;
    const [[, , publicKey, port] = [], ...peers] = lines.filter(([name]) => name === device);
    const announced = Object.fromEntries(
      ['pubKey', 'endpoint'].map((each) => [each, annotations[`${remote}.wireguard.semaphore.uw.io/${each}`]]),
    );
    const own = routes.filter(({ dev, protocol }) => dev === device && protocol === '115').map(({ dst }) => dst);
    view[device] = {
      alias: flags.includes('UP') ? alias : `${alias}, which is down`,
      mtu,
      port: Number(port),
      publicKey,
      routes: own.toSorted(),
      ...(remotes.includes(remote) && { announced }),
    };
    for (const [, key, , endpoint, allowedIps = '', , , , keepalive] of peers)
      view[`${remote} ${key}`] = { endpoint, allowedIps: allowedIps.split(',').toSorted(), keepalive };
  }
  return view;
}

const isOurs = ({ ifname, ifalias = '' }: { readonly ifname: string; readonly ifalias?: string }): boolean =>
  ifname.startsWith('wireguard.') || ifalias.startsWith(MARK);

/** Without what packets change. */
function foreignIn({ lines, links, routes }: Observed): readonly string[] {
  const foreign = links.filter((link) => !isOurs(link));
  const names = foreign.map(({ ifname }) => ifname);
  return [
    ...foreign.map(({ ifname, ifalias, mtu, flags }) => JSON.stringify({ ifname, ifalias, mtu, flags })),
    ...lines.filter(([name]) => name === FOREIGN.device).map((fields) => fields.slice(0, 5).join(' ')),
    ...routes
      .filter(({ dev = '' }) => names.includes(dev))
      .map(({ dst, dev, protocol }) => `${dst} ${dev} ${protocol}`),
  ];
}

/** What of a call of the agent is never right. Exported for its test. @param left remotes that weren't in the file meanwhile */
export function harmOf(call: string, { staying, overlap }: NodeFacts, left: ReadonlySet<string>): readonly string[] {
  const words = call.split(' ');
  const device = words[words.indexOf('dev') + 1 || words.indexOf('set') + 1]!;
  const remote = /^wireguard\.(c\d)$/.exec(device)?.[1];
  if (remote === undefined) return [`a call for a device of others: ${call}`];
  if (words.includes('delete') && !words.includes('address') && !left.has(remote))
    return [`removed although ${remote} was in the file: ${call}`];
  const stays = staying.filter(({ cluster }) => cluster === remote);
  return call
    .split(' peer ')
    .slice(1)
    .flatMap((text) => {
      const [key, ...rest] = text.split(' ');
      const own = stays.find((each) => each.key === key);
      const given = rest.flatMap((word, nth) => (rest[nth - 1] === 'allowed-ips' ? word.split(',') : []));
      const lost = own?.podCIDRs.filter((cidr) => rest.includes('allowed-ips') && !given.includes(cidr)) ?? [];
      const stolen = stays.filter(
        (each) => each !== own && each.podCIDRs.some((cidr) => given.some((g) => g !== '' && overlap(g, cidr))),
      );
      const isWrong = lost.length > 0 || stolen.length > 0 || (own !== undefined && rest.includes('remove'));
      return isWrong ? [`a peer that stays lost something: wg set ${device} peer ${text}`] : [];
    });
}

/** What a user does to a device of ours. */
function editOf(nth: number, device: string): string {
  const some = `$(wg show ${device} peers | head -n 1)`;
  const other = Buffer.alloc(32, 'of a user').toString('base64');
  const subnet = `10.${Number(device.at(-1)) + 2}`;
  const edits = [
    `wg set ${device} peer "${some}" remove`,
    `wg set ${device} peer ${other} endpoint 198.51.100.99:1 allowed-ips ${subnet}.1.0/24`,
    `wg set ${device} peer "${some}" endpoint 198.51.100.98:1 persistent-keepalive 7`,
    `wg set ${device} listen-port 40001`,
    `wg genkey | wg set ${device} private-key /dev/stdin`,
    `ip link set dev ${device} mtu 1300`,
    `ip link set dev ${device} down`,
    `ip route delete ${subnet}.0.0/16 dev ${device}`,
    `ip address add 192.0.2.77/32 dev ${device}`,
  ];
  return edits[nth % edits.length]!;
}
