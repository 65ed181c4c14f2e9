import { fileURLToPath } from 'node:url';
import { bundle } from './build/bundle.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
for (const app of ['policy', 'service-mirror', 'wireguard']) console.log(await bundle(app, { root }));
