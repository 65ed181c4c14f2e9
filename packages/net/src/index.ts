export { bad, good, type Parsed } from './parsed.ts';
