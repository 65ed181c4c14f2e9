import { join, relative, resolve } from 'node:path';
import * as z from 'zod/mini';
import { answersSchema, type GivenAnswers } from './answers.ts';
import { type Files, isOverlay } from './files/folder.ts';
import { jsonIn } from './files/json-file.ts';

const flag = z.optional(z.boolean());
const fields = {
  /** Tunnels connect the nodes. */
  wireguard: flag,
  /** wireguard-go carries the tunnels. */
  userspace: flag,
  /** NetworkPolicies can name another cluster. */
  networkPolicies: flag,
  /** Services with a ServiceExport become ServiceImports. */
  mcs: flag,
  /** The overlay has values of the Helm chart, too, and Helm applies its objects. */
  helm: flag,
  /** Before the names of the images. */
  registry: z.optional(z.union([z.string(), z.literal(false)])),
  /** How long tokens live, in milliseconds. With it, accounts get no Secret with a token that doesn't end. */
  boundTokens: z.optional(z.union([z.number(), z.literal(false)])),
  /** CoreDNS gets names. */
  coredns: flag,
  /** Clusters may have the same range of Services. */
  sharedServiceCidrs: flag,
  /** The manifests: a URL, or a folder as the one of the overlay names it; else the overlay has copies. */
  deploy: z.optional(z.union([z.string(), z.literal(false)])),
  /** What was said of this cluster, and of no other. */
  answers: z.optional(answersSchema),
};

/** In this order. It drops what is no choice: other options of the command. */
const schema = z.object(fields);

/** What flags choose for a cluster. Its overlay keeps them, and further runs without these flags do the same. */
export type Choices = z.infer<typeof schema>;

/** The file of an overlay with its choices. */
export const CHOICES_FILE = 'link.json';

const texts = z.readonly(z.array(z.string()));
const limits = z.strictObject({
  /** Addresses that no remote may announce. */
  localCIDRs: z.optional(texts),
  /** Where the nodes of each remote may be. */
  endpointCIDRs: z.optional(z.record(z.string(), texts)),
});

/** The limits that a run found for the files of a cluster, besides the Pods of its remotes. */
export type Limits = z.infer<typeof limits>;

const file = z.strictObject({
  ...fields,
  /** Of the namespace kube-system of the cluster. */
  uid: z.optional(z.string()),
  written: z.optional(limits),
});

/** What no flag says of a cluster, and its file keeps. */
export type Kept = Pick<z.infer<typeof file>, 'uid' | 'written'>;

/** What the files of a cluster keep. @throws {Error} if they are not valid */
export function choicesIn(files: Files): Choices {
  const { uid: _uid, written: _written, ...choices } = fileIn(files);
  return choices;
}

/** The limits that the last run found. @throws {Error} if the files are not valid */
export const writtenIn = (files: Files): Limits => fileIn(files).written ?? {};

/** Which cluster the files are of; undefined: they don't say. @throws {Error} if they are not valid */
export const uidIn = (files: Files): string | undefined => fileIn(files).uid;

const fileIn = (files: Files): z.infer<typeof file> => jsonIn(files, CHOICES_FILE, file);

/**
 * The choices of each cluster, in their order: those that are given; else its own; else, of a cluster without an overlay,
 * those of the others. Both ends of a link need tunnels, NetworkPolicies, MCS and shared ranges, so one cluster with them
 * decides. Answers are those that are given; else its own.
 *
 * @param given those among the options of a command
 */
export function choicesOf(
  clusters: readonly { readonly files: Files; readonly folder: string; readonly answers: GivenAnswers }[],
  given: Choices,
): readonly Choices[] {
  const kept = clusters.map(({ files, folder, answers: now }) => {
    const { deploy, answers: earlier, ...others } = choicesIn(files);
    const choices = { ...others, ...located(deploy, (path) => join(folder, path)) };
    const answers = { ...earlier, ...defined({ ...now, name: undefined }) };
    const own = Object.keys(answers).length > 0 && { answers };
    return { isNew: !isOverlay(files), choices, own };
  });
  const linked = kept.filter(({ isNew }) => !isNew).map(({ choices }) => choices);
  const inherited: Choices = Object.assign({}, ...linked.toReversed());
  const shared: Choices = {
    ...(linked.some(({ wireguard }) => wireguard === false) && {
      wireguard: linked.some(({ wireguard }) => wireguard !== false),
    }),
    ...(linked.some(({ networkPolicies }) => networkPolicies === true) && { networkPolicies: true }),
    ...(linked.some(({ mcs }) => mcs === true) && { mcs: true }),
    ...(linked.some(({ sharedServiceCidrs }) => sharedServiceCidrs === true) && { sharedServiceCidrs: true }),
  };
  return kept.map(({ isNew, choices, own }) =>
    schema.parse({ ...(isNew ? inherited : choices), ...shared, ...defined(given), ...own }),
  );
}

/** The text of the file. */
export function choicesText({ deploy, ...choices }: Choices, folder: string, kept: Kept): string {
  const all = { ...choices, ...located(deploy, (path) => relative(resolve(folder), resolve(path))), ...kept };
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

/** The text of the file without what was written for some remotes. */
export function withoutWritten(text: string, remotes: readonly string[]): string {
  const kept = file.parse(JSON.parse(text));
  const { endpointCIDRs = {} } = kept.written ?? {};
  if (!remotes.some((remote) => remote in endpointCIDRs)) return text;
  const others = Object.entries(endpointCIDRs).filter(([name]) => !remotes.includes(name));
  const written = { ...kept.written, endpointCIDRs: Object.fromEntries(others) };
  return `${JSON.stringify({ ...kept, written }, undefined, 2)}\n`;
}

/** The flags that say the same as these choices, without answers and those that are given. */
export function flagsOf(choices: Choices, given: Choices): readonly string[] {
  const { answers: _answers, ...flags } = choices;
  return Object.entries(flags)
    .filter(([key]) => given[key as keyof Choices] === undefined)
    .map(([key, value]) => {
      const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (typeof value === 'boolean') return `--${value ? '' : 'no-'}${name}`;
      return `--${name}=${typeof value === 'number' ? durationText(value) : value}`;
    });
}

/** As `--bound-tokens` takes it. */
const durationText = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1_000}s`;

const defined = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function located(deploy: Choices['deploy'], place: (path: string) => string): Choices {
  if (deploy === undefined) return {};
  return { deploy: deploy === false || deploy.includes('://') ? deploy : place(deploy) };
}
