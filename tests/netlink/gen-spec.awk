# SPDX-License-Identifier: GPL-2.0
# From include/uapi/linux/seepage.h to spec.h: the type of every attribute (the
# comment behind it) and the members of every message (the manual at the head).
# What the header does not say in the form it always uses fails the build.

function die(why)
{
	print FILENAME ":" FNR ": " why >"/dev/stderr"
	failed = 1
	exit 1
}

function upper_of(text, _w)		# "enum seepage_x" -> SEEPAGE_X
{
	if (!match(text, /enum seepage_[a-z_]+/))
		return ""
	_w = substr(text, RSTART + 5, RLENGTH - 5)
	return toupper(_w)
}

# ---- the manual ----

function words(text)			# adds what is there to tree[name]
{
	tree[name] = tree[name] " " text
}

/^ \* [A-Z_]+ +(do|dump|multicast) / { cmd = $2; name = "" }
/^ \*\// { manual_over = 1; name = "" }
!manual_over && /reply: / {
	name = cmd
	sub(/.*reply: +/, "")
	words($0)
	next
}
!manual_over && /^ \* an? [a-z]+:/ {
	name = $3
	sub(":", "", name)
	sub(/^ \* an? [a-z]+: +/, "")
	words($0)
	next
}
!manual_over && name && /^ \*        +[][A-Z_{}.]+( |$)/ {
	sub(/^ \* +/, "")
	words($0)
	next
}
!manual_over { name = "" }

# ---- the enums ----

/^enum seepage_(|factor_|gate_|level_|pmc_|identity_)attr \{/ {
	which = substr($2, 9)			# _attr is in each
	sub(/_?attr$/, "", which)
	prefix = "SEEPAGE_" (which ? toupper(which) "_" : "") "A_"
	printf "static const struct spec spec_%s[] = {\n", which ? which : "attr"
	next
}
prefix && /^};/ {
	print "};\n"
	prefix = ""
}
prefix && $1 ~ "^" prefix {
	id = $1
	sub(/,.*/, "", id)
	short = substr(id, length(prefix) + 1)
	if (short == "UNSPEC" || $2 == "=")
		next
	if (short == "PAD") {
		printf "\t[%s] = { \"PAD\", T_PAD, 0, 0, 0 },\n", id
		next
	}
	if (!match($0, /\/\* .* \*\//))
		die(id ": no comment that tells its type")
	c = substr($0, RSTART + 3, RLENGTH - 6)
	optional = c ~ /left out/
	max = "~0ULL"
	inner = "0"
	if (c ~ /^nest: type is enum/) {
		type = c ~ /, u64$/ ? "T_KEYED_U64" : c ~ /, u32$/ ? "T_KEYED_U32" : ""
		if (!type)
			die(id ": " c)
		max = "__" upper_of(c) "_MAX - 1"
		sub(/SEEPAGE_CONFIG/, "SEEPAGE_CFG", max)
	} else if (c ~ /^nest of enum/) {
		type = "T_NEST"
		inner = upper_of(c)
		sub(/_ATTR$/, "", inner)
		inner = "&nest_" tolower(substr(inner, 9))
	} else if (c ~ /^nest of SEEPAGE_A_/) {
		type = "T_LIST"
		match(c, /SEEPAGE_A_[A-Z_]+/)
		max = substr(c, RSTART, RLENGTH)
	} else if (match(c, /^binary: (u32|u64|struct [a-z_]+)\[\]/)) {
		type = "T_ARRAY"
		max = substr(c, 9, RLENGTH - 10)
		max = "sizeof(" (max ~ /^u(32|64)$/ ? "__" max : max) ")"
	} else if (match(c, /^(u8|u32|u64|s64|string)([,; ]|$)/)) {
		type = "T_" toupper(substr(c, 1, match(c, /[,; ]|$/) - 1))
		if (c ~ /mask/)
			;
		else if (upper_of(c))
			max = upper_of(c) "_MAX"
		else if (match(c, /0 to [0-9]+/))
			max = substr(c, RSTART + 5, RLENGTH - 5)
		else if (c ~ /0 or 1|, 1:/)
			max = "1"
		if (type == "T_STRING" && c ~ /SEEPAGE_COMM_LEN with its NUL/)
			max = "SEEPAGE_COMM_LEN"
	} else {
		die(id ": no type in '" c "'")
	}
	printf "\t[%s] = { \"%s\", %s, %s, %d, %s },\n", id, short, type, max, optional, inner
	known[short] = 1
}

function put_tree(_name, _text, _n, _w, _i, _opt, _some)
{
	_text = tree[_name]
	while (gsub(/\{[^{}]*\}(\.\.)?/, "", _text))
		;
	printf "static const struct member tree_%s[] = {\n", tolower(_name)
	gsub(/,/, " ", _text)
	_n = split(_text, _w, / +/)
	for (_i = 1; _i <= _n; _i++) {
		if (_w[_i] !~ /^\[?[A-Z_]+\]?$/)
			continue
		_opt = _w[_i] ~ /^\[/
		gsub(/[][]/, "", _w[_i])
		if (!known[_w[_i]]) {
			print "manual: " _name ": no attribute " _w[_i] >"/dev/stderr"
			failed = 1
		}
		printf "\t{ SEEPAGE_A_%s, %d },\n", _w[_i], !_opt
		_some = 1
	}
	if (!_some) {
		print "manual: " _name ": not found" >"/dev/stderr"
		failed = 1
	}
	print "\t{ 0, 0 }\n};\n"
}

END {
	if (failed)
		exit 1
	put_tree("GET_STATUS")
	put_tree("GET_CONFIG")
	put_tree("process")
	put_tree("alert")
	exit failed
}
