export { commonOptions, type CommonOptions } from './common.ts';
export { optionsReference } from './reference.ts';
export { resolveOptions, type Given, type Program } from './resolve.ts';
export { spellingOf, variableOf, type OptionTable, type OptionType } from './table.ts';
export { absoluteUrl, boolean, cidrList, duration, integer, listenAddress, oneOf, text } from './types.ts';
