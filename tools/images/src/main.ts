import { fileURLToPath } from 'node:url';
import { storeFlags } from '@kube-semaphore/testkit';
import { findBuilder } from './builder.ts';
import { commandLine, DEBOOTSTRAP, type ImagesCommand } from './command-line.ts';
import { buildImages } from './images.ts';
import { excesses, table } from './sizes.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const say = (what: string): void => console.error(`- ${what}`);

await commandLine(build).parseAsync();

async function build({ builder: wanted, ...ingredients }: ImagesCommand): Promise<void> {
  try {
    const builder = await findBuilder(wanted);
    say(
      builder.name === 'docker'
        ? 'docker builds'
        : `${builder.name} builds in its own store: podman ${storeFlags().join(' ')} images`,
    );
    const sizes = await buildImages({ ...ingredients, root, builder, say });
    console.log(table(sizes));
    for (const excess of excesses(sizes)) {
      console.error(excess);
      process.exitCode = 1;
    }
  } catch (error) {
    console.error((error as Error).message);
    if (ingredients.base !== DEBOOTSTRAP)
      console.error('where no registry is within reach: npm run images -- --base debootstrap');
    process.exitCode = 1;
  }
}
