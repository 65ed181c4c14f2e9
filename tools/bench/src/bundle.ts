import { fileURLToPath } from 'node:url';
import { bundle } from './build/bundle.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
console.log(await bundle('policy', { root }));
