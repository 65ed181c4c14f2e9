export { type App, apps, bomPath, bundle } from './bundle.ts';
export { type Bom, type Component, renderBom } from './sbom/bom.ts';
export { debianComponents } from './sbom/debian.ts';
export { goComponents } from './sbom/go.ts';
