import { familyName, type IpFamily } from '@kube-semaphore/net';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { type CheckOptions, runCheck } from './check/check-command.ts';
import { completionOf, shells } from './completion.ts';
import { type DrainOptions, runDrain, runUndrain } from './drain/drain-command.ts';
import { type ExplainOptions, runExplain } from './explain/explain-command.ts';
import { type ExportOptions, runExport } from './export/export-command.ts';
import { type GatherOptions, runGather } from './gather/gather-command.ts';
import { graphFormats, type GraphOptions, runGraph } from './graph/graph-command.ts';
import { type LinkOptions, runLink } from './link/command.ts';
import { formats } from './output/format.ts';
import { complainOf, type Invocation } from './output/terminal.ts';
import { runStatus, type StatusOptions } from './status/status-command.ts';
import { runTest, type TestOptions } from './packet-test/test-command.ts';
import { runUi, type UiOptions } from './ui/ui-command.ts';
import { runUnlink, type UnlinkOptions } from './unlink/unlink-command.ts';
import { UsageError } from './usage-error.ts';

/** By convention, of a process that SIGINT ended. */
const INTERRUPTED = 130;

/** Runs a command line. @returns 0: fine, 1: it found a problem, 2: wrong usage, 130: interrupted */
export async function runProgram(argv: readonly string[], invocation: Invocation): Promise<number> {
  const { signal } = invocation;
  let code = 0;
  const program = programOf(invocation, (exitCode) => (code = exitCode));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    // commander has written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    complainOf(invocation, (error as Error).message);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Where commands are added, and what they need. */
type Cli = {
  readonly program: Command;
  readonly invocation: Invocation;
  /** Called with the exit code of a command. */
  readonly exit: (code: number) => void;
};

/** The commands. @param exit called with the exit code of the command */
export function programOf(invocation: Invocation, exit: (code: number) => void): Command {
  const { name, terminal } = invocation;
  const program = new Command(name)
    .description('Links Kubernetes clusters, and shows how they are linked.')
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: terminal.print,
      writeErr: terminal.complain,
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    });
  for (const add of commands) add({ program, invocation, exit });
  return program;
}

function add({ program }: Cli, command: string, description: string, example: string): Command {
  const shown = `\nExample:\n  $ ${program.name()} ${example}`;
  return program.command(command).description(description).addHelpText('after', shown);
}

const reading = (command: Command): Command =>
  command.option('--kubeconfig <file>', 'the kubeconfig (default: KUBECONFIG, or ~/.kube/config)');

const onClusters = (command: Command): Command =>
  reading(command).option(
    '--context <name>',
    'a context of the kubeconfig; repeat it for more clusters (default: the current one)',
    also,
  );

const printed = (command: Command, choices: readonly string[] = formats): Command =>
  command.addOption(new Option('-o, --output <format>', 'how to print').choices(choices).default(choices[0]));

function addLink(cli: Cli): void {
  const example = 'link --context c1 --context c2 -o mesh';
  onClusters(add(cli, 'link', 'Writes a kustomize overlay for each cluster, to link them.', example))
    .requiredOption('-o, --output <folder>', 'the folder of the overlays, one for each cluster')
    .option('--cluster-name <context=name>', 'the name of a cluster (default: that of its context)', also)
    .option('--server <context=url>', 'its API server, as Pods of the other clusters reach it', also)
    .option('--no-server', 'find out the API servers (the default)')
    .option('--pod-cidr <context=cidr>', 'a range of its Pods; repeat it for more', also)
    .option('--no-pod-cidr', 'find out the ranges of Pods (the default)')
    .option('--service-cidr <context=cidr>', 'a range of its Services; repeat it for more', also)
    .option('--no-service-cidr', 'find out the ranges of Services (the default)')
    .option('--node-cidr <context=cidr>', 'a range of its nodes; repeat it for more', also)
    .option('--no-node-cidr', 'find out the ranges of nodes (the default)')
    .option('--ipam <context=source>', 'which addresses a node has: podCIDRs or calico-blocks', also)
    .option('--no-ipam', 'find out which addresses a node has (the default)')
    .option('--deploy <folder>', 'a folder deploy/ of this project or its URL, to refer to')
    .option('--no-deploy', 'the overlays have copies of the manifests that they need (the default)')
    .option('--helm', 'also write values for Helm, which then installs the apps: --apply leaves that to it')
    .option('--no-helm', 'write overlays of kustomize only (the default)')
    .option('--registry <prefix>', 'what the names of the images begin with, such as registry.example/semaphore')
    .option('--no-registry', 'the names of the images have no prefix (the default)')
    .option('--shared-service-cidrs', 'allow clusters with the same range of Services')
    .option('--no-shared-service-cidrs', 'refuse clusters with the same range of Services (the default)')
    .option('--families <families>', 'use only ipv6, or only ipv4, between these clusters', familiesOf)
    .option('--apply', 'apply the overlays, hand over the tokens, and add names to CoreDNS')
    .option('--bound-tokens <lifetime>', 'hand over tokens that end, such as after 720h', durationOf)
    .option('--no-bound-tokens', 'hand over tokens that do not end (the default)')
    .option('--renew', 'only replace these tokens')
    .option('--coredns', 'add names to CoreDNS (the default)')
    .option('--no-coredns', 'leave the Corefile of CoreDNS as it is')
    .option('--wireguard', 'with tunnels (the default)')
    .option('--no-wireguard', 'without tunnels: nodes already reach the Pods of the other clusters')
    .option('--network-policies', 'let NetworkPolicies name Pods of the other clusters')
    .option('--no-network-policies', 'NetworkPolicies select only local Pods (the default)')
    .option('--mcs', 'Services with a ServiceExport become ServiceImports')
    .option('--no-mcs', 'do without ServiceImports (the default)')
    .option('--userspace', 'wireguard-go carries the tunnels: the kernel of a node has no WireGuard')
    .option('--no-userspace', 'the kernel carries the tunnels (the default)')
    .option('--diff', 'print each line that changes, and each object')
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (options: LinkOptions) => cli.exit(await runLink(options, cli.invocation)));
}

function addUnlink(cli: Cli): void {
  const example = 'unlink --context c1 --context c2 --leaving c3 -o mesh --apply';
  onClusters(add(cli, 'unlink', 'Removes links: of the given clusters, or of one that leaves.', example))
    .requiredOption('-o, --output <folder>', 'the folder that link wrote')
    .option('--cluster-name <context=name>', 'the name of a cluster (default: that of its context)', also)
    .option('--leaving <name>', 'remove only links of this cluster, which needs no context', also)
    .option('--apply', 'also change the clusters')
    .option('--no-coredns', 'leave the Corefile of CoreDNS as it is')
    .action(async (options: UnlinkOptions) => cli.exit(await runUnlink(options, cli.invocation)));
}

function addStatus(cli: Cli): void {
  const example = 'status --context c1 --context c2';
  printed(onClusters(add(cli, 'status', 'Shows each pair of clusters, as the apps see it.', example)))
    .option('-w, --watch', 'print it again every two seconds')
    .action(async (options: StatusOptions) => cli.exit(await runStatus(options, cli.invocation)));
}

function addCheck(cli: Cli): void {
  const example = 'check --context c1 --context c2 --wait 5m';
  printed(onClusters(add(cli, 'check', 'Looks for trouble, by named checks.', example)))
    .option(
      '--wait <duration>',
      'repeat the checks as long as they find a problem, at most for this time',
      durationOf,
      0,
    )
    .option('--pre', 'before the installation: check the clusters only')
    .addOption(
      new Option(
        '--network-policies',
        'only print which Pods of other clusters NetworkPolicies let in, and what is wrong with these policies',
      ).conflicts('pre'),
    )
    .action(async (options: CheckOptions) => cli.exit(await runCheck(options, cli.invocation)));
}

function addTest(cli: Cli): void {
  const example = 'test --context c1 --context c2';
  printed(onClusters(add(cli, 'test', 'Sends packets between all clusters.', example)))
    .option('--image <name>', 'an image with Node.js 24 (default: that of a Pod of our apps)')
    .option('-n, --namespace <name>', 'where to create Pods and a Service', 'default')
    .option(
      '--service <namespace/name>',
      'connect to this Service instead, by its mirrored names; repeat it for more',
      also,
    )
    .action(async (options: TestOptions) => cli.exit(await runTest(options, cli.invocation)));
}

function addExplain(cli: Cli): void {
  const example = 'explain --from c1/shop/cart-1 --to c2/shop/checkout:80';
  printed(reading(add(cli, 'explain', 'Follows a packet between two clusters.', example)))
    .requiredOption(
      '--from <pods>',
      'who calls: context/namespace/pod, context/namespace/deployment/name or context/address',
    )
    .requiredOption(
      '--to <destination>',
      'a Service or Pod: context/namespace/name[:port]; what --from takes; or a DNS name, such as checkout.shop.svc.cluster.c2:80',
    )
    .option('--to-context <name>', 'the cluster that answers, for the name of a global Service or a ServiceImport')
    .option('--probe', 'also connect to the Service and the Pod, from a new Pod beside the calling one')
    .option('--image <name>', 'for --probe, an image with Node.js 24 (default: that of a Pod of our apps)')
    .action(async (options: ExplainOptions) => cli.exit(await runExplain(options, cli.invocation)));
}

function addGraph(cli: Cli): void {
  const example = 'graph --context c1 --context c2 > mesh.svg';
  const command = add(cli, 'graph', 'Draws clusters, nodes, tunnels and mirrored Services.', example);
  printed(onClusters(command), graphFormats).action(async (options: GraphOptions) =>
    cli.exit(await runGraph(options, cli.invocation)),
  );
}

function addExport(cli: Cli): void {
  const example = 'export checkout -n shop --context c1 --importer c2';
  const description = 'Exports a Service to other clusters, and shows what they make of it.';
  printed(onClusters(add(cli, 'export', description, example)))
    .argument('[service]', 'the Service, which each --context has')
    .option('-n, --namespace <name>', 'its namespace')
    .option('--importer <name>', 'a context where to look for the import, too; repeat it for more', also)
    .option('--exported-label <key=value>', 'a label of the imports; repeat it for more', also)
    .option('--exported-annotation <key=value>', 'an annotation of the imports; repeat it for more', also)
    .option('--all-global [selector]', 'all global Services, and say which of their names can go')
    .option('--remove', 'end the export')
    .option('--dry-run', 'let the API servers check it, and store nothing')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the imports').argParser(durationOf).default(20_000, '20s'),
    )
    .action(async (service: string | undefined, options: ExportOptions) =>
      cli.exit(await runExport(service, options, cli.invocation)),
    );
}

function addDrain(cli: Cli): void {
  const example = 'drain c2 --context c1 --context c3 --reason "new kernels"';
  const description = 'Has clusters use the endpoints of another one last, so that new connections avoid it.';
  draining(add(cli, 'drain', description, example))
    .option('--reason <text>', 'why, for everyone who looks')
    .action(async (cluster: string, options: DrainOptions) =>
      cli.exit(await runDrain(cluster, options, cli.invocation)),
    );
}

function addUndrain(cli: Cli): void {
  const example = 'undrain c2 --context c1 --context c3';
  draining(add(cli, 'undrain', 'Ends a drain.', example)).action(async (cluster: string, options: DrainOptions) =>
    cli.exit(await runUndrain(cluster, options, cli.invocation)),
  );
}

const draining = (command: Command): Command =>
  printed(onClusters(command))
    .argument('<cluster>', 'its name in the config of the apps')
    .option('--dry-run', 'say what would change, and store nothing')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the EndpointSlices')
        .argParser(durationOf)
        .default(60_000, '1m'),
    );

function addUi(cli: Cli): void {
  const example = 'ui --context c1 --context c2 --open';
  onClusters(add(cli, 'ui', 'Serves a page with all of this on this machine.', example))
    .option('--port <number>', 'the port of the page (default: a free one)', portOf, 0)
    .option('--open', 'open it in your browser')
    .action(async (options: UiOptions) => await runUi(options, cli.invocation));
}

function addGather(cli: Cli): void {
  const example = 'gather --context c1 --context c2';
  onClusters(add(cli, 'gather', 'Writes an archive for a bug report, without credentials.', example))
    .option('-o, --output <file>', 'the archive', 'semaphore-gather.tar.gz')
    .action(async (options: GatherOptions) => cli.exit(await runGather(options, cli.invocation)));
}

function addCompletion(cli: Cli): void {
  const example = 'completion bash >> ~/.bashrc';
  add(cli, 'completion', 'Prints a script that completes commands and options.', example)
    .argument('<shell>', shells.join(', '))
    .action((shell: string) => cli.invocation.terminal.print(completionOf(cli.program, shell)));
}

/** In the order of help. */
const commands = [
  addLink,
  addUnlink,
  addStatus,
  addCheck,
  addTest,
  addExplain,
  addGraph,
  addExport,
  addDrain,
  addUndrain,
  addUi,
  addGather,
  addCompletion,
];

/** @returns ascending */
function familiesOf(text: string): readonly IpFamily[] {
  const names = text.split(',');
  if (!names.every((name) => name === 'ipv4' || name === 'ipv6'))
    throw new InvalidArgumentError('use ipv4, ipv6 or ipv4,ipv6');
  return ([4, 6] as const).filter((family) => names.includes(familyName(family)));
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** @returns milliseconds */
function durationOf(text: string): number {
  const [, count, unit] = /^(\d{1,4})([smh])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('use a number with s, m or h, such as 5m');
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('use a number up to 65535');
  return Number(text);
}

const also = (value: string, before: readonly string[] | false = []): readonly string[] => [...(before || []), value];
