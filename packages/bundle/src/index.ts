export { type App, apps, bundle } from './bundle.ts';
