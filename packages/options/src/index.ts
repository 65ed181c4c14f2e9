export { commonOptions, type CommonOptions } from './common.ts';
export { formatDuration } from './duration.ts';
export { optionsReference } from './reference.ts';
export { resolveOptions, type Given, type Program, type Resolution, type ResolveInput } from './resolve.ts';
export { spellingOf, variableOf, type OptionSpec, type OptionTable, type OptionType } from './table.ts';
export { absoluteUrl, boolean, cidrList, duration, integer, listenAddress, oneOf, text } from './types.ts';
