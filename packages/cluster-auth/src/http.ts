/**
 * node:http at a lower price. An ESM import reads every export of a built-in module, and those of WebSocket and its
 * events load undici when they are read: 8 MB of a process that has 53 with node:https (Node 24.21).
 */
export const http = process.getBuiltinModule('node:http');
