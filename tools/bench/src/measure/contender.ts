import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from './program.ts';

/** What a program under test is pointed to. */
type Targets = {
  /** Kubeconfig of the cluster where it writes. */
  readonly local: string;
  /** The clusters that it watches, at least one. */
  readonly remotes: readonly { readonly name: string; readonly kubeconfig: string }[];
  /** A folder for files of the command's own. */
  readonly dir: string;
};

/** A program that runs in the bench: a column of its table. */
export type Contender = { readonly name: string; readonly command: (targets: Targets) => Promise<Command> };

/** Our own program, started by its launcher. */
export function ours(launcher: string, encoding: 'auto' | 'json'): Contender {
  return {
    name: encoding === 'json' ? 'ours, JSON' : 'ours',
    command: async (targets) => {
      const flags = {
        'local-kube-config': targets.local,
        ...(await remoteFlags(targets)),
        'listen-address': '127.0.0.1:0',
        encoding,
      };
      return [launcher, ...Object.entries(flags).flatMap(([flag, value]) => [`-${flag}`, value])];
    },
  };
}

/** The flags for one remote, or a file for several. */
async function remoteFlags({ remotes, dir }: Targets): Promise<Record<string, string>> {
  const [first, ...others] = remotes;
  if (first !== undefined && others.length === 0) return { 'target-kube-config': first.kubeconfig, 'target-cluster-name': first.name };
  const config = join(dir, 'remotes.json');
  await writeFile(config, JSON.stringify({ remotes: remotes.map(({ name, kubeconfig }) => ({ name, kubeConfigPath: kubeconfig })) }));
  return { config };
}

/** Any other program, for one remote: a simple command of the shell with `{local}`, `{remote}` and `{cluster}` in it. */
export function peer(template: string): Contender {
  const program = template.split(/\s+/).find((word) => !word.includes('=') && word !== 'env') ?? template;
  return {
    name: basename(program),
    command: ({ local, remotes }) => {
      const values = { local, remote: remotes[0]!.kubeconfig, cluster: remotes[0]!.name };
      const text = template.replaceAll(/\{(local|remote|cluster)\}/g, (_, name: keyof typeof values) => values[name]);
      // Replaces the shell, so that the process which is measured is the program itself.
      return Promise.resolve(['/bin/sh', '-c', `exec ${text}`]);
    },
  };
}
