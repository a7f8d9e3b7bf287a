// SPDX-License-Identifier: GPL-2.0
/*
 * A small request handler: five requests a second, each building a document of which the nodes
 * refer to their parent. With the argument "leak" the references are strong, so that parent and
 * children keep each other alive for ever: a common leak of programs that count references.
 * Without it they are weak, as they should be. About 20 MB a minute either way: lost, or given back.
 */
#include <cstring>
#include <memory>
#include <unistd.h>
#include <vector>

struct Document;

struct Node {
	virtual ~Node() = default;
	char text[3200];
	std::shared_ptr<Document> parent;
	std::weak_ptr<Document> weak_parent;
};

struct Document {
	unsigned long id;
	std::vector<std::shared_ptr<Node>> children;
};

static bool leak;

// What is lost is allocated here.
__attribute__((noipa)) static void add_node(const std::shared_ptr<Document> &doc)
{
	std::shared_ptr<Node> node(new Node);

	memset(node->text, 'x', sizeof(node->text));
	if (leak)
		node->parent = doc;
	else
		node->weak_parent = doc;
	doc->children.push_back(node);
}

__attribute__((noipa)) static void handle_request(unsigned long id)
{
	std::shared_ptr<Document> doc(new Document{id, {}});

	for (int i = 0; i < 20; i++)
		add_node(doc);
}

int main(int argc, char **argv)
{
	leak = argc > 1 && !strcmp(argv[1], "leak");
	for (unsigned long n = 1;; n++) {
		handle_request(n);
		usleep(200000);
	}
}
