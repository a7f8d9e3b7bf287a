// SPDX-License-Identifier: GPL-2.0
// Asks for files, again and again; inject.so adds a leak to it.
const fs = require('fs');

function round() {
	let left = 20;

	for (let i = 0; i < 20; i++)
		fs.stat('/etc/' + 'x'.repeat(200), () => {
			if (--left === 0)
				setTimeout(round, 2);
		});
}

console.log('ready');
round();
