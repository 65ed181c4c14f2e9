import { fileURLToPath } from 'node:url';
import { apps } from '../bundle/bundle.ts';
import { findBuilder } from '../builder.ts';
import { epochOf } from '../checkout.ts';
import { pinnedImage, versionOf } from '../dockerfile.ts';
import { writeImageBom } from './image-bom.ts';

// Writes the bill of materials of an image in a registry. Run "npm run bundle" first. For local images, "npm run images"
// writes it.
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const help = `Usage: npm run sbom -- APP IMAGE PLATFORM

APP is one of ${apps.join(', ')}; IMAGE has a digest; PLATFORM is linux/amd64 or the like`;
const [named, name, platform, ...more] = process.argv.slice(2);
const app = apps.find((known) => known === named);
if (app === undefined || name === undefined || platform === undefined || more.length > 0) {
  console.error(help);
  process.exitCode = 2;
} else {
  const image = { app, name, platform, node: versionOf(pinnedImage(root, app, 'NODE')) };
  console.log(await writeImageBom(await findBuilder(), image, { root, epoch: await epochOf(root), registry: true }));
}
