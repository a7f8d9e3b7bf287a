// SPDX-License-Identifier: GPL-2.0
// A JSON service in node: items are kept in a cache of a fixed number. With
// LEAK=permille that share of the requests is kept for ever, after onset
// seconds: V8 has a heap of its own, so the leak is one in JavaScript.
'use strict';
const http = require('http');
const cache = new Map();
const KEEP = 300;
const leak = Number(process.env.LEAK || 0);
const onset = Date.now() + Number(process.env.onset || 0) * 1000;
const kept = [];
let x = Number(process.env.seed) >>> 0 || 1;

// The seed decides which requests are kept.
function dice() {
	x ^= x << 13; x >>>= 0;
	x ^= x >>> 17;
	x ^= x << 5; x >>>= 0;
	return x % 1000;
}

http.createServer((request, response) => {
	let body = '';
	request.on('data', (chunk) => { body += chunk; });
	request.on('end', () => {
		let out;
		if (request.method === 'POST') {
			const value = JSON.parse(body);
			cache.delete(value.key);
			cache.set(value.key, value);
			if (cache.size > KEEP)
				cache.delete(cache.keys().next().value);
			const words = value.items.map((i) => i.text.toUpperCase()).sort();
			out = JSON.stringify({ stored: value.key, first: words.slice(0, 3) });
			if (dice() < leak && Date.now() >= onset)
				kept.push({ value, body, words });
		} else {
			const value = cache.get(request.url.split('/').pop());
			out = JSON.stringify(value || { error: 'not found' }, null, 1);
		}
		response.setHeader('Content-Length', Buffer.byteLength(out));
		response.end(out);
	});
}).listen(Number(process.env.port), '127.0.0.1');
