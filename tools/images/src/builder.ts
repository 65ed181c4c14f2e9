import { storeFlags } from '@kube-semaphore/testkit';
import { run, works } from './run.ts';

/** The inputs of a build. */
type Recipe = {
  /** The Dockerfile. */
  readonly file: string;
  /** The folder to copy from. */
  readonly context: string;
  readonly args?: Readonly<Record<string, string>>;
};

/** The inputs and the name of an image. */
export type Build = Recipe & {
  /** Name and tag of the result. */
  readonly tag: string;
  /** The time of its files in seconds, as SOURCE_DATE_EPOCH; without it, each keeps its own. */
  readonly epoch?: number | undefined;
};

/** In the order of preference. */
export const builderNames = ['docker', 'buildah', 'podman'] as const;

export type BuilderName = (typeof builderNames)[number];

/** A program that builds images from Dockerfiles. All have the same `build`. */
export type Builder = {
  readonly name: BuilderName;
  /** The program, with the flags of all its commands. */
  readonly command: readonly [file: string, ...flags: string[]];
  /** Flags of its `build`. */
  readonly buildFlags: readonly string[];
  /** Flags to pull missing images, or not to. */
  readonly pull: (wanted: boolean) => readonly string[];
  /** Flags that set the time of an image and its files. */
  readonly date: (epoch: number) => readonly string[];
  /** The command that removes stages and unnamed images from our own store. */
  readonly tidyUp?: readonly (readonly string[])[];
};

/** In a chroot, a build only needs root, so it works in a container, too. */
const inChroot = ['--isolation', 'chroot'];

const timestamp = (epoch: number): readonly string[] => ['--timestamp', `${epoch}`];

const builders: readonly Builder[] = [
  {
    name: 'docker',
    command: ['docker'],
    buildFlags: [],
    pull: () => [],
    date: (epoch) => ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`],
  },
  {
    name: 'buildah',
    command: ['buildah', ...storeFlags('buildah')],
    buildFlags: inChroot,
    pull: (wanted) => (wanted ? [] : ['--pull-never']),
    date: timestamp,
    tidyUp: [
      ['rm', '--all'],
      ['rmi', '--prune'],
    ],
  },
  {
    name: 'podman',
    command: ['podman', ...storeFlags('podman')],
    buildFlags: inChroot,
    pull: (wanted) => (wanted ? [] : ['--pull=never']),
    date: timestamp,
    tidyUp: [['image', 'prune', '--force']],
  },
];

/**
 * The first builder that works here; docker without its daemon doesn't.
 *
 * @param wanted the only builder to try
 * @throws {Error} that says what to install
 */
export async function findBuilder(wanted?: BuilderName): Promise<Builder> {
  for (const builder of builders)
    if ((wanted ?? builder.name) === builder.name && (await works([...builder.command, 'info']))) return builder;
  if (wanted !== undefined) throw new Error(`${wanted} doesn't work here`);
  throw new Error(
    'neither docker (with its daemon) nor buildah nor podman works here: install one of them, such as Debian’s package buildah',
  );
}

/**
 * The first builder that has an image.
 *
 * @throws {Error} if no builder has it
 */
export async function builderWith(image: string): Promise<Builder> {
  for (const builder of builders)
    if (await works([...builder.command, 'inspect', '--type', 'image', image])) return builder;
  throw new Error(`there is no image ${image}: run "npm run images"`);
}

/**
 * Builds an image.
 *
 * @param registry whether it may pull images
 * @throws {Error} with the end of the builder's output
 */
export async function buildImage(
  builder: Builder,
  { tag, epoch, ...build }: Build,
  { registry }: { registry: boolean },
): Promise<void> {
  const date = epoch === undefined ? [] : builder.date(epoch);
  await runBuild(builder, build, [...builder.pull(registry), ...date, '-t', tag]);
}

/** Files that a Dockerfile collects, and their target folder. */
export type Export = Recipe & {
  readonly to: string;
  /** Platform of their images, such as `linux/arm64`; default: that of this machine. */
  readonly platform?: string | undefined;
};

/**
 * Builds files instead of an image.
 *
 * @throws {Error} with the end of the builder's output
 */
export async function exportFiles(
  builder: Builder,
  { to, platform, ...build }: Export,
  { registry }: { registry: boolean },
): Promise<void> {
  const from = platform === undefined ? [] : ['--platform', platform];
  await runBuild(builder, build, [...builder.pull(registry), ...from, '--output', `type=local,dest=${to}`]);
}

async function runBuild(
  { command, buildFlags }: Builder,
  { file, context, args = {} }: Recipe,
  flags: readonly string[],
): Promise<void> {
  const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  // Only BuildKit skips unused stages.
  const env = { DOCKER_BUILDKIT: '1' };
  await run([...command, 'build', ...buildFlags, ...flags, '-f', file, ...buildArgs, context], env);
}

/**
 * Pulls an image if it isn't in the builder's store.
 *
 * @throws {Error} if it is neither there nor in a registry
 */
export async function fetchImage({ command }: Builder, name: string): Promise<void> {
  if (!(await works([...command, 'inspect', '--type', 'image', name]))) await run([...command, 'pull', name]);
}

/** Removes what builds left in our own store, except images of running containers. */
export async function tidyUp({ command, tidyUp: commands = [] }: Builder): Promise<void> {
  for (const words of commands) await works([...command, ...words]);
}

/** The size of an image with its base, unpacked, in bytes; buildah rounds. */
export async function imageBytes({ name, command }: Builder, tag: string): Promise<number> {
  if (name === 'buildah') return parseSize(await run([...command, 'images', '--format', '{{.Size}}', tag]));
  return Number(await run([...command, 'image', 'inspect', '--format', '{{.Size}}', tag]));
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };

/**
 * The bytes of `204 MB`.
 *
 * @throws {Error} if it isn't a size
 */
export function parseSize(words: string): number {
  const [, value, unit = ''] = /^([\d.]+) ?([a-zA-Z]+)$/.exec(words.trim()) ?? [];
  const factor = UNITS[unit.toUpperCase()];
  if (value === undefined || factor === undefined) throw new Error(`not a size: ${words.trim()}`);
  return Number(value) * factor;
}
