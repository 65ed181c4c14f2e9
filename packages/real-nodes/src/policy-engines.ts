import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  builtBinary,
  inPlace,
  type NodeComponent,
  type RealCluster,
  startComponent,
  Supervision,
  type Tool,
} from '@kube-semaphore/testkit';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { felixVariables } from './calico.ts';

type PolicyEngineOptions = {
  /** It has a Node of the node's name, and what {@link prepareCalico} installs. */
  readonly cluster: RealCluster;
  /** Has the cluster's port by `forward`. */
  readonly node: NetworkNode;
};

/**
 * Starts a program that enforces the NetworkPolicies of a cluster on the Pods of one node, and resolves when it does.
 *
 * @throws {Error} if it isn't built
 * @throws {ComponentError} with the end of its log if it doesn't run
 */
export type PolicyEngine = (options: PolicyEngineOptions) => Promise<NodeComponent>;

/** They run nft or iptables. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Calico's Felix, with its nftables or with iptables and ipset. The links of Pods have the names of {@link calicoLink}. */
const startFelix = async ({ cluster, node }: PolicyEngineOptions, variables = {}): Promise<NodeComponent> => {
  await node.run('mkdir', ['-p', '/run/calico']);
  return start('calico-felix', node, {
    args: ['--config-file=/dev/null'],
    env: {
      PATH,
      ...felixVariables(node.name, cluster.adminKubeconfig),
      FELIX_IPV6SUPPORT: 'true',
      FELIX_HEALTHENABLED: 'true',
      ...variables,
    },
    answers: () => node.run('curl', ['--fail', '--silent', 'http://127.0.0.1:9099/readiness']),
  });
};

/** The number of the queue in which the kernel passes packets to kube-network-policies. */
const QUEUE = '100';

/** kube-network-policies, which gives its verdict on the first packet of each connection. */
const startKubeNetworkPolicies: PolicyEngine = async ({ cluster, node }) => {
  if (!(await canQueue(node))) await queueByIptables(node);
  return start('kube-network-policies', node, {
    args: [
      `--kubeconfig=${cluster.adminKubeconfig}`,
      `--hostname-override=${node.name}`,
      // There is no container runtime to ask.
      '--disable-nri',
      '--fail-open=false',
      '--strict-mode=false',
      '--netfilter-bug-1766-fix=false',
      '--metrics-bind-address=127.0.0.1:9080',
    ],
    env: { PATH },
    answers: () => node.run('grep', ['--quiet', `^ *${QUEUE} `, '/proc/net/netfilter/nfnetlink_queue']),
  });
};

/** All of them, by name. */
export const policyEngines = {
  felix: (options) => startFelix(options),
  'felix-iptables': (options) => startFelix(options, { FELIX_NFTABLESMODE: 'Disabled', FELIX_IPTABLESBACKEND: 'NFT' }),
  'kube-network-policies': startKubeNetworkPolicies,
} as const satisfies Readonly<Record<string, PolicyEngine>>;

/** Whether the kernel's nftables can queue packets: a module may be missing. The check changes nothing. */
async function canQueue(node: NetworkNode): Promise<boolean> {
  const chain = 'add table inet check; add chain inet check check';
  await node.run('nft', ['--check', chain]);
  return node.run('nft', ['--check', `${chain}; add rule inet check check queue num ${QUEUE}`]).then(
    () => true,
    () => false,
  );
}

/**
 * Queues what kube-network-policies would queue by itself: its own rules fail as a whole, and it goes on without them.
 * Its requests to the API server must not wait in its own queue.
 */
async function queueByIptables(node: NetworkNode): Promise<void> {
  const rule = ['POSTROUTING', '!', '-o', 'lo', '-m', 'conntrack', '--ctstate', 'NEW', '-j', 'NFQUEUE'];
  for (const iptables of ['iptables-nft', 'ip6tables-nft'])
    await node.run(iptables, ['-t', 'mangle', '-A', ...rule, '--queue-num', QUEUE]);
}

/** The name of the node's end of a Pod's link, from which Felix knows the Pod. */
export function calicoLink(namespace: string, pod: string): string {
  return `cali${createHash('sha1').update(`${namespace}.${pod}`).digest('hex').slice(0, 11)}`;
}

type Program = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Rejects until the program is ready. */
  readonly answers: () => Promise<unknown>;
};

async function start(tool: Tool, node: NetworkNode, { args, env, answers }: Program): Promise<NodeComponent> {
  const file = builtBinary(tool);
  const supervision = await Supervision.start();
  const { dir } = supervision;
  try {
    const program = { name: tool, file, args, log: join(dir, `${tool}.log`), env };
    await startComponent(supervision, inPlace(node, program), () => answers().then(() => true));
    return { dir, stop: () => supervision.stop() };
  } catch (error) {
    await supervision.stop();
    throw error;
  }
}
