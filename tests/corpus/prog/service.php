<?php
// SPDX-License-Identifier: GPL-2.0
// A JSON service behind php-fpm: what is posted is parsed, sorted and rendered. Memory
// comes from malloc(3) (USE_ZEND_ALLOC=0), so that dropfree can make it leak.
header('Content-Type: application/json');
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
	$value = json_decode(file_get_contents('php://input'), true);
	$words = [];
	foreach ($value['items'] as $item)
		array_push($words, $item['text'], strtoupper($item['text']));
	sort($words);
	$out = ['stored' => $value['key'], 'first' => array_slice($words, 0, 3)];
} else {
	$out = ['path' => $_SERVER['REQUEST_URI'], 'squares' => array_map(fn($x) => $x * $x, range(1, 2000))];
}
$body = json_encode($out, JSON_PRETTY_PRINT);
header('Content-Length: ' . strlen($body));
echo $body;
