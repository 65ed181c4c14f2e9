import { parseArgs } from 'node:util';

/** What to build images of. */
export type Ingredients = {
  /** An image, or {@link DEBOOTSTRAP}. */
  readonly base: string;
  /** The images that Node.js and Go come from, where that isn't for the Dockerfiles to say. */
  readonly node: string | undefined;
  readonly go: string | undefined;
  /** Where the sources are, where it isn't for the checkout to say. */
  readonly source: string | undefined;
};

/** What the tool was asked to do. */
export type CommandLine =
  | ({ readonly kind: 'build' } & Ingredients)
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** The base that is no image of a registry. */
export const DEBOOTSTRAP = 'debootstrap';

/** What `--help` prints. */
export const help = `Usage: npm run images [-- FLAGS]

Builds the image of each app with docker, buildah or podman, whichever works here, and says how large they are.

  --base IMAGE         what they are built on, by default debian:bookworm-slim of your registry
  --base debootstrap   without a registry: a Debian from its packages (as root, with debootstrap), and Node.js as npm has
                       brought it
  --node IMAGE         what Node.js is taken from, by default node:24.21.0-bookworm-slim
  --go IMAGE           what compiles wireguard-go, by default golang:1.26-bookworm
  --source URL         what the label org.opencontainers.image.source says, by default where the checkout comes from
  --help               print this
`;

/** Reads the arguments, without the two that Node.js adds. */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...args],
      options: { base: { ...text, default: 'debian:bookworm-slim' }, node: text, go: text, source: text, help: { type: 'boolean', short: 'h', default: false } },
    });
    const { help: helpWanted, base, node, go, source } = values;
    return helpWanted ? { kind: 'help' } : { kind: 'build', base, node, go, source };
  } catch (error) {
    // Its first sentence names the argument; the next ones are about positional arguments, of which there are none.
    const [problem = ''] = (error as Error).message.split('. ');
    return { kind: 'bad-usage', problem };
  }
}
