import { parseArgs } from 'node:util';

export const help = `Usage: npm run clusters -- [flags] [-- COMMAND...]

Starts two clusters of real nodes with kube-semaphore, and runs a command with their KUBECONFIG, whose contexts are c1 and c2.

  --keep           without a command: keep them until Ctrl-C
  --nodes N        nodes of each cluster (default 2)
  --image NAME     an image of podman's store for all nodes, which reach no registry; repeatable
  --registry PORT  leave kube-semaphore to you, and let nodes reach the registry at this port of localhost
`;

export type CommandLine =
  | {
      readonly kind: 'run';
      readonly nodes: number;
      readonly images: readonly string[];
      readonly registryPort: number | undefined;
      readonly command: readonly string[];
    }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** Reads the flags before the command. */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    const { values, positionals: command } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        keep: { type: 'boolean', default: false },
        nodes: { type: 'string', default: '2' },
        image: { type: 'string', multiple: true, default: [] },
        registry: { type: 'string' },
      },
    });
    if (!/^[1-9]$/.test(values.nodes)) return badUsage('--nodes must be a number from 1 to 9');
    if (values.keep === command.length > 0) return badUsage('either --keep or a command is required');
    if (values.registry !== undefined && !/^[1-9]\d{0,4}$/.test(values.registry))
      return badUsage('--registry must be a port');
    const registryPort = values.registry === undefined ? undefined : Number(values.registry);
    return { kind: 'run', nodes: Number(values.nodes), images: values.image, registryPort, command };
  } catch (error) {
    return badUsage((error as Error).message);
  }
}

const badUsage = (problem: string): CommandLine => ({ kind: 'bad-usage', problem });
