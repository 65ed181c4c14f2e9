import { parseArgs } from 'node:util';
import { type BuilderName, builderNames } from './builder.ts';

/** What to build images of. */
export type Ingredients = {
  /** An image, where that isn't for the Dockerfiles to say, or {@link DEBOOTSTRAP}. */
  readonly base: string | undefined;
  /** The images that Node.js and Go come from, likewise. */
  readonly node: string | undefined;
  readonly go: string | undefined;
  /** Where the sources are, where it isn't for the checkout to say. */
  readonly source: string | undefined;
};

/** What builds them; undefined is the first that works. */
type Choice = { readonly builder: BuilderName | undefined };

/** What the tool was asked to do. */
export type CommandLine =
  | ({ readonly kind: 'build' } & Ingredients & Choice)
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** The base that is no image of a registry. */
export const DEBOOTSTRAP = 'debootstrap';

/** What `--help` prints. */
export const help = `Usage: npm run images [-- FLAGS]

Builds the image of each app with docker, buildah or podman, whichever works here, and says how large they are.

  --builder NAME       one of these three, by default the first that works; npm run test:images takes what buildah or podman built
  --base IMAGE         what they are built on, by default debian:bookworm-20260918-slim of your registry
  --base debootstrap   without a registry: a Debian from its packages (as root, with debootstrap), and Node.js as npm has
                       brought it
  --node IMAGE         what Node.js is taken from, by default node:24.21.0-bookworm-slim
  --go IMAGE           what compiles wireguard-go, by default golang:1.26.9-bookworm
  --source URL         what the label org.opencontainers.image.source says, by default where the checkout comes from
  --help               print this

The images named above are taken by their digests, which are in the Dockerfiles.
`;

/** Reads the arguments, without the two that Node.js adds. */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...args],
      options: {
        builder: text,
        base: text,
        node: text,
        go: text,
        source: text,
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { help: helpWanted, builder, base, node, go, source } = values;
    if (helpWanted) return { kind: 'help' };
    const chosen = builderNames.find((name) => name === builder);
    if (builder !== chosen)
      return { kind: 'bad-usage', problem: `--builder: "${builder}" is none of ${builderNames.join(', ')}` };
    return { kind: 'build', builder: chosen, base, node, go, source };
  } catch (error) {
    // Its first sentence names the argument; the next ones are about positional arguments, of which there are none.
    const [problem = ''] = (error as Error).message.split('. ');
    return { kind: 'bad-usage', problem };
  }
}
