import { fileURLToPath } from 'node:url';
import { apps, bundle } from './bundle.ts';
import { epochOf } from '../checkout.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const named = process.argv.slice(2);
const unknown = named.filter((name) => !apps.some((app) => app === name));
if (unknown.length > 0) {
  console.error(`no such app: ${unknown.join(', ')}; there are ${apps.join(', ')}`);
  process.exitCode = 2;
} else {
  const epoch = await epochOf(root);
  const wanted = apps.filter((app) => named.length === 0 || named.includes(app));
  for (const app of wanted) console.log(await bundle(app, { root, epoch }));
}
