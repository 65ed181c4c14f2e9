import { parseArgs } from 'node:util';
import { type BuilderName, builderNames } from './builder.ts';

/** The inputs of the images. */
export type Ingredients = {
  /** An image, or {@link DEBOOTSTRAP}; default: that of the Dockerfiles. */
  readonly base: string | undefined;
  /** The images of Node.js and Go; default: those of the Dockerfiles. */
  readonly node: string | undefined;
  readonly go: string | undefined;
  /** The URL of the sources; default: the origin of the checkout. */
  readonly source: string | undefined;
};

/** The builder; undefined: the first that works. */
type Choice = { readonly builder: BuilderName | undefined };

/** The parsed command line. */
export type CommandLine =
  | ({ readonly kind: 'build' } & Ingredients & Choice)
  | { readonly kind: 'help' }
  | { readonly kind: 'bad-usage'; readonly problem: string };

/** The base that isn't an image of a registry. */
export const DEBOOTSTRAP = 'debootstrap';

/** The output of `--help`. */
export const help = `Usage: npm run images [-- FLAGS]

Builds the image of each app with docker, buildah or podman, and prints the sizes.

  --builder NAME       docker, buildah or podman; default: the first that works. npm run test:images uses the images of
                       buildah or podman
  --base IMAGE         base of the images; default: debian:bookworm-20260918-slim of your registry
  --base debootstrap   without a registry: a base from Debian's packages (as root, with debootstrap), and the Node.js of npm
  --node IMAGE         source of Node.js; default: node:24.21.0-bookworm-slim
  --go IMAGE           compiler of wireguard-go; default: golang:1.26.9-bookworm
  --source URL         label org.opencontainers.image.source; default: the origin of the checkout
  --help               print this

The Dockerfiles pin the default images by digest.
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
      return { kind: 'bad-usage', problem: `--builder: "${builder}" must be one of ${builderNames.join(', ')}` };
    return { kind: 'build', builder: chosen, base, node, go, source };
  } catch (error) {
    // The first sentence names the argument. The others are about positional arguments.
    const [problem = ''] = (error as Error).message.split('. ');
    return { kind: 'bad-usage', problem };
  }
}
