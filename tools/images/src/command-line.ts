import { Command, Option } from 'commander';
import { type BuilderName, builderNames } from './builder.ts';

/** The inputs of the images. */
export type Ingredients = {
  /** An image, or {@link DEBOOTSTRAP}; default: that of the Dockerfiles. */
  readonly base?: string | undefined;
  /** The images of Node.js and Go; default: those of the Dockerfiles. */
  readonly node?: string | undefined;
  readonly go?: string | undefined;
  /** The URL of the sources; default: the origin of the checkout. */
  readonly source?: string | undefined;
};

/** The flags: also the builder; without one, the first that works is used. */
export type ImagesCommand = Ingredients & { readonly builder?: BuilderName };

/** The base that isn't an image of a registry. */
export const DEBOOTSTRAP = 'debootstrap';

/** The program. A wrong command line ends this process with 2. */
export const commandLine = (build: (options: ImagesCommand) => Promise<void>): Command =>
  new Command('npm run images --')
    .description(
      'Builds the image of each app with docker, buildah or podman, and prints the sizes. The Dockerfiles pin the default ' +
        'images by digest.',
    )
    .addOption(
      new Option(
        '--builder <name>',
        'default: the first that works. npm run test:images uses the images of buildah or podman',
      ).choices(builderNames),
    )
    .option(
      '--base <image>',
      'base of the images; default: debian:bookworm-20260918-slim of your registry. Without a registry: debootstrap, ' +
        "a base from Debian's packages (as root, with debootstrap), and the Node.js of npm",
    )
    .option('--node <image>', 'source of Node.js; default: node:24.21.0-bookworm-slim')
    .option('--go <image>', 'compiler of wireguard-go; default: golang:1.26.9-bookworm')
    .option('--source <url>', 'label org.opencontainers.image.source; default: the origin of the checkout')
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(build);
