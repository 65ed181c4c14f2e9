import { parseArgs } from 'node:util';

/** The parsed command line. */
export type CommandLine =
  | { readonly kind: 'run'; readonly keep: boolean; readonly real: boolean }
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** The output of `--help`. */
export const help = `Usage: npm run demo [-- FLAGS]

Shows kube-semaphore at work between two small clusters on this machine, in half a minute.

  --keep   keep everything running at the end, until Ctrl-C, and print commands to explore it
  --real   use real API servers (kube-apiserver and etcd, built by "npm run binaries"); if this machine can run
           nodes, and "npm run images" was run, two whole clusters follow, for about five minutes
  --help   print this
`;

/** Reads the arguments, without the two that Node.js adds. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const flag = { type: 'boolean', default: false } as const;
  const options = { keep: flag, real: flag, help: { ...flag, short: 'h' } } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    return values.help ? { kind: 'help' } : { kind: 'run', keep: values.keep, real: values.real };
  } catch (error) {
    // The first sentence names the argument. The others are about positional arguments.
    return { kind: 'bad-usage', problem: (error as Error).message.split('. ')[0] ?? '' };
  }
}
