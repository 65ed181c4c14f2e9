import { basename } from 'node:path';
import type { Command } from './program.ts';

/** The clusters and files for a program under test. */
export type Targets = {
  /** Kubeconfig of the cluster where it writes. */
  readonly local: string;
  /** The clusters that it watches, at least one. */
  readonly remotes: readonly { readonly name: string; readonly kubeconfig: string }[];
  /** A folder for the command's own files. */
  readonly dir: string;
};

/** Makes texts by name for targets: flags without hyphens, or values of `{name}`. */
export type Texts = (targets: Targets) => Promise<Readonly<Record<string, string>>>;

/** A program of the bench: a column of its table. */
export type Contender = { readonly name: string; readonly command: (targets: Targets) => Promise<Command> };

/** Our own program, started by its launcher with the app's flags. */
export function ours(launcher: string, encoding: 'auto' | 'json', flags: Texts): Contender {
  return {
    name: encoding === 'json' ? 'ours, JSON' : 'ours',
    command: async (targets) => {
      const all = { 'listen-address': '127.0.0.1:0', encoding, ...(await flags(targets)) };
      return [launcher, ...Object.entries(all).map(([flag, value]) => `-${flag}=${value}`)];
    },
  };
}

/** Any other program: a simple shell command, where `{name}` is replaced by one of `values`. */
export function peer(template: string, values: Texts): Contender {
  const program = template.split(/\s+/).find((word) => !word.includes('=') && word !== 'env') ?? template;
  return {
    name: basename(program),
    command: async (targets) => {
      const texts = await values(targets);
      const text = template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => texts[name] ?? placeholder);
      // Replaces the shell, so that the measured process is the program itself.
      return ['/bin/sh', '-c', `exec ${text}`];
    },
  };
}

/** The values for clusters in every app's commands; {remote} is the first one. */
export function clusterValues({ local, remotes: [first] }: Targets): {
  local: string;
  remote: string;
  cluster: string;
} {
  if (first === undefined) throw new Error('there is no remote cluster for the program');
  return { local, remote: first.kubeconfig, cluster: first.name };
}
