import { Command, InvalidArgumentError, Option } from 'commander';
import { type Growing, growing } from './growth/growing-shop.ts';
import { MOST_REMOTES } from './policy/fleet.ts';
import { MOST_REMOTES as MANY_REMOTES } from './many-remotes/shop.ts';
import { type SourceKind, sourceKinds } from './service-mirror/source-objects.ts';
import { MOST_NODES } from './wireguard/remote-nodes.ts';

/** What every bench is asked. */
export type SharedOptions = {
  readonly embedded?: true;
  readonly encoding: 'auto' | 'json';
  /** How often each program runs through all phases. */
  readonly repeat: number;
  /** Seconds. */
  readonly settle: number;
  /** Seconds; 0: not measured. */
  readonly idle: number;
  /** The file for the results. */
  readonly json?: string;
};

/** The options of a bench that runs several programs on the same clusters. */
export type RaceOptions = SharedOptions & {
  /** Commands of other programs. */
  readonly peer: readonly string[];
  /** The most changes at a steady rate, and the most others in a burst. */
  readonly changes: number;
  /** Number of pods. */
  readonly rollout: number;
};

export type PolicyOptions = RaceOptions & {
  readonly pods: number;
  readonly sets: number;
  /** Number of remote clusters. */
  readonly remotes: number;
  /** Companions of NetworkPolicies instead of sets. */
  readonly networkPolicies?: true;
  readonly labelSets: number;
};

export type MirrorOptions = RaceOptions & {
  readonly services: number;
  readonly endpoints: number;
  readonly peerReads: SourceKind;
};

export type WireGuardOptions = SharedOptions & {
  readonly nodes: number;
  readonly changes: number;
  readonly scrapes: number;
};

export type ManyRemotesOptions = Pick<SharedOptions, 'repeat' | 'settle' | 'json'> & {
  /** Number of remote clusters; two are measured besides. */
  readonly remotes: number;
  readonly services: number;
  readonly changes: number;
  /** Changes a second. */
  readonly rate: number;
};

export type GrowthOptions = Pick<SharedOptions, 'settle'> & {
  readonly app: readonly Growing[];
  /** Numbers of remote clusters. */
  readonly remotes: readonly number[];
  /** Of the whole size; 0: the remotes have nothing. */
  readonly percent: number;
  readonly changes: number;
  /** Changes a second. */
  readonly rate: number;
  /** The file that keeps the figures of all runs. */
  readonly results: string;
  /** The folder of the charts. */
  readonly pictures: string;
};

/** The apps that can work while all comes and goes. */
const churned = ['policy', 'service-mirror', 'wireguard'] as const;
export type Churned = (typeof churned)[number];

export type ChurnOptions = {
  readonly app: readonly Churned[];
  readonly rounds: number;
  /** Seconds of a round, which ends with a sample. */
  readonly period: number;
  /** Things a second that change, or go for another one. */
  readonly rate: number;
};

/** What runs each bench. */
type Actions = {
  readonly policy: (options: PolicyOptions) => Promise<void>;
  readonly mirror: (options: MirrorOptions) => Promise<void>;
  readonly wireGuard: (options: WireGuardOptions) => Promise<void>;
  readonly manyRemotes: (options: ManyRemotesOptions) => Promise<void>;
  readonly growth: (options: GrowthOptions) => Promise<void>;
  readonly churn: (options: ChurnOptions) => Promise<void>;
};

/** The program: a command for each app. It throws a CommanderError for a wrong command line, and for help. */
export function commandLine({ policy, mirror, wireGuard, manyRemotes, growth, churn }: Actions): Command {
  const program = new Command('npm run bench --')
    .description('Measures the bundle of an app on its own API servers.')
    .showHelpAfterError()
    .exitOverride();

  raceOptions(program.command('policy'), { subject: 'pods whose address changes', rollout: 1000 })
    .option('--pods <n>', 'pods of 15 kB in the remote cluster', natural(2), 10_000)
    .option('--sets <n>', 'sets of these pods, of equal size', natural(1), 500)
    .addOption(
      new Option('--remotes <n>', 'remote clusters with these pods and sets; pods of the first one change')
        .argParser(natural(1, MOST_REMOTES))
        .default(1)
        .conflicts('peer'),
    )
    .addOption(
      new Option('--network-policies', 'companions of NetworkPolicies instead of sets: of 1000 for 50000 pods')
        .conflicts(['peer', 'remotes'])
        .implies({ pods: 50_000, sets: 1000 }),
    )
    .option('--label-sets <n>', 'with --network-policies: distinct labels of the pods', natural(1), 12_000)
    .action(policy);

  raceOptions(program.command('service-mirror'), { subject: 'services with one changed endpoint', rollout: 100 })
    .option('--services <n>', 'services in the remote cluster', natural(2), 1000)
    .option('--endpoints <n>', 'endpoints of each, at most 100 in a slice', natural(1), 10)
    .addOption(
      new Option(
        '--peer-reads <kind>',
        'resource that the programs of --peer read in the remote cluster: the Go program reads endpoints. Their commands ' +
          'can use {selector}, {namespace} of the mirrors, and {config}, a config file with all of it',
      )
        .choices(sourceKinds)
        .default('endpoints'),
    )
    .action(mirror);

  sharedOptions(program.command('wireguard'))
    .option('--nodes <n>', 'nodes of the remote cluster, each a peer', natural(1, MOST_NODES), 1000)
    .option('--changes <n>', 'nodes whose endpoint changes, one after the other, or all', natural(1), 20)
    .option('--scrapes <n>', 'reads of /metrics, 15 s apart', natural(1), 5)
    .action(wireGuard);

  repeated(program.command('many-remotes'))
    .description(
      'Measures both apps over clusters with remotes: a change with many, and with two. All API servers are embedded.',
    )
    .option('--remotes <n>', 'remote clusters', natural(3, MANY_REMOTES), MANY_REMOTES)
    .option('--services <n>', 'services of each kind in each remote, and NetworkPolicies', natural(1, 100), 10)
    .option('--changes <n>', 'changed endpoints of each kind', natural(1), 900)
    .option(
      '--rate <n>',
      'changes a second; fails if one comes before the last one of the same Service was seen',
      natural(1),
      30,
    )
    .action(manyRemotes);

  settling(program.command('growth'))
    .description(
      'Measures an app with several numbers of remotes, and draws how its figures grow. All API servers are embedded.',
    )
    .addOption(
      new Option('--app <names...>', 'what is measured; companions: policy with NetworkPolicies')
        .choices(growing)
        .default(growing),
    )
    .option('--remotes <list>', 'numbers of remote clusters', naturals(1, MANY_REMOTES), [1, 10, 50, 100, 250])
    .option('--percent <n>', 'size of each remote, in percent; 0: idle remotes', natural(0, 100), 100)
    .option('--changes <n>', 'changed addresses', natural(1), 900)
    .option('--rate <n>', 'changes a second', natural(1), 90)
    .option(
      '--results <file>',
      'keeps the figures of all runs; a run adds its own, or replaces older ones',
      'dist/growth.json',
    )
    .option('--pictures <folder>', 'gets the charts of all of them', 'docs/pictures')
    .action(growth);

  program
    .command('churn')
    .description(
      'Lets an app work while objects, remotes and tokens come, change and go; fails if what it holds grows. API servers are embedded.',
    )
    .addOption(
      new Option('--app <names...>', 'what is measured, one after the other').choices(churned).default(churned),
    )
    .option('--rounds <n>', 'rounds for each app: an hour, if nothing is late', natural(3), 120)
    .option('--period <seconds>', 'length of a round, which ends with a sample', natural(2), 30)
    .option('--rate <n>', 'things a second that change, or go for another one', natural(1), 20)
    .action(churn);
  return program;
}

function raceOptions(command: Command, { subject, rollout }: { subject: string; rollout: number }): Command {
  return sharedOptions(command)
    .addOption(
      new Option(
        '--peer <command>',
        'also measures another program; repeatable. Its command can use {local} and {remote}, which are kubeconfig files, ' +
          'and {cluster}, the name of the remote cluster',
      )
        .argParser((peer, peers: readonly string[]) => [...peers, peer])
        .default([], 'none'),
    )
    .option(
      '--changes <n>',
      `${subject}, at 20 a second, and then as many others at full speed; at most half of all`,
      natural(1),
      300,
    )
    .option('--rollout <n>', 'pods of one more workload that get addresses within 5 s', natural(1), rollout);
}

function sharedOptions(command: Command): Command {
  return repeated(command)
    .option('--embedded', 'uses the embedded API server: quick, but its own time is in the figures')
    .addOption(new Option('--encoding <kind>', 'what ours reads').choices(['auto', 'json']).default('auto'))
    .option('--idle <seconds>', 'also measures CPU and memory without changes', natural(0), 0);
}

function repeated(command: Command): Command {
  return settling(command)
    .option('--repeat <n>', 'rounds of all phases; the table has medians', natural(1), 3)
    .option('--json <file>', 'writes the results of all rounds as JSON');
}

function settling(command: Command): Command {
  return command.option('--settle <seconds>', 'wait before memory counts as settled', natural(0), 10);
}

/** Reads whole numbers with commas between them. */
function naturals(least: number, most: number): (text: string) => readonly number[] {
  return (text) => text.split(',').map(natural(least, most));
}

/** Reads a whole number. */
function natural(least: number, most = 999_999_999): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return value;
  };
}
