/**
 * node:http without undici. An ESM import reads every export of a built-in module, and those of WebSocket load undici
 * when they are read: 8 MB of a process that has 53 MB with node:https (Node 24.21).
 */
export const http = process.getBuiltinModule('node:http');
