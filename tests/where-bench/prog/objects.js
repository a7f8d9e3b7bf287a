// SPDX-License-Identifier: GPL-2.0
// objects.js [twin]: sessions in a map, from which nothing deletes them, but of the twin.
const sessions = new Map();
const twin = process.argv.length > 2;
let n = 0;

function session(key) {
	return { key, name: 'session ' + key, numbers: Array.from({ length: 20 }, (_, i) => key + i / 3) };
}

function keepSession() {
	sessions.set(++n, session(n));
	if (twin)
		sessions.delete(n - 64);
}

console.log('ready');
setInterval(() => {
	for (let i = 0; i < 10; i++)
		session(i);
	keepSession();
}, 2);
