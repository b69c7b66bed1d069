/// The JavaScript environment for a PAC script: the predefined functions that scripts expect, and the code that calls
/// the script.
///
/// The text is a JavaScript function with these parameters: the function `ask` (see `CCausewayLibraries/PAC`), the
/// script, the URL, the host, this host's addresses, and the local UTC offset in minutes. The function returns the
/// final ``PACConversation`` message.
package enum PACPrelude {
    package static let text = "(function (ask, script, url, host, mine, ahead) {" + dates + hosts + times + call + "})"

    /// Runs the PAC script and returns its result. The script is run as a file named `input`. Line numbers in error
    /// messages count from the start of the script.
    private static let call = #"""
        var run = eval, alerts = 0;
        function limited(text) { return text.length > 2000 ? text.substring(0, 2000) : text; }
        function told(error) {
            try {
                var text = String(error).replace("alloc failed", "out of memory: the limit is 16 MiB"), line = error && error.fileName === "input" && error.lineNumber;
                if (line && text.indexOf("(line ") < 0) text += " (line " + line + ")";
                return "F" + limited(text);
            } catch (another) {
                return "FUnknown error";
            }
        }
        global.alert = function (text) { if (alerts++ < 32) ask("L", limited(String(text))); };
        delete global.Duktape;
        try {
            run(script);
            var choose = typeof FindProxyForURLEx === "function" ? FindProxyForURLEx
                : typeof FindProxyForURL === "function" ? FindProxyForURL : null;
            if (!choose) return "FThe script defines no function FindProxyForURL";
            var result = choose(url, host);
            if (result === undefined || result === null) return "R";
            if (typeof result !== "string") return "FThe script's result is not a string but of type " + typeof result;
            return result.length > 8000 ? "FThe script's result is too long" : "R" + result;
        } catch (error) {
            return told(error);
        }
        """#

    /// Functions for hosts, names and addresses.
    private static let hosts = #"""
        var global = this, known = {};
        function v4(text) {
            var parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text), all = [];
            for (var i = 1; parts && i < 5; i++) { if (parts[i] > 255) return null; all.push(+parts[i]); }
            return parts && all;
        }
        function v6(text) {
            text = String(text).replace(/^\[|\]$/g, "").replace(/%.*$/, "");
            var last = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
            if (last) {
                var tail = v4(last[2]);
                if (!tail) return null;
                text = last[1] + (tail[0] * 256 + tail[1]).toString(16) + ":" + (tail[2] * 256 + tail[3]).toString(16);
            }
            if (text.indexOf(":") < 0) return null;
            var halves = text.split("::"), all = [];
            if (halves.length > 2) return null;
            var front = halves[0] ? halves[0].split(":") : [], back = halves[1] ? halves[1].split(":") : [];
            var gap = 8 - front.length - back.length;
            if (halves.length === 1 ? gap !== 0 : gap < 1) return null;
            while (halves.length === 2 && gap-- > 0) front.push("0");
            front = front.concat(back);
            for (var i = 0; i < 8; i++) {
                if (!/^[0-9a-f]{1,4}$/i.test(front[i])) return null;
                var word = parseInt(front[i], 16);
                all.push(word >> 8, word & 255);
            }
            return all;
        }
        function bytes(text) { return v4(text) || v6(text); }
        function bits(all) { return (all[0] << 24) | (all[1] << 16) | (all[2] << 8) | all[3]; }
        function addresses(name) {
            name = String(name);
            if (bytes(name)) return [name];
            if (!name || name.length > 253) return [];
            var key = "$" + name.toLowerCase();
            if (!known.hasOwnProperty(key)) {
                var answer = ask("Q", name);
                known[key] = answer ? answer.split(";") : [];
            }
            return known[key];
        }
        function firstV4(all) {
            for (var i = 0; i < all.length; i++) if (v4(all[i])) return all[i];
            return null;
        }
        function within(address, network, length) {
            if (!address || address.length !== network.length) return false;
            for (var i = 0; i < network.length; i++, length -= 8) {
                var mask = length >= 8 ? 255 : length <= 0 ? 0 : (255 << (8 - length)) & 255;
                if ((address[i] & mask) !== (network[i] & mask)) return false;
            }
            return true;
        }
        function matches(text, pattern) {
            var at = 0, p = 0, star = -1, mark = 0;
            while (at < text.length) {
                var c = pattern.charAt(p);
                if (p < pattern.length && c === "*") { star = p++; mark = at; }
                else if (p < pattern.length && (c === "?" || c === text.charAt(at))) { at++; p++; }
                else if (star >= 0) { p = star + 1; at = ++mark; }
                else return false;
            }
            while (pattern.charAt(p) === "*") p++;
            return p >= pattern.length;
        }
        global.isPlainHostName = function (host) { return !/[.:]/.test(String(host)); };
        global.dnsDomainIs = function (host, domain) {
            host = String(host).toLowerCase(); domain = String(domain).toLowerCase();
            return host.length >= domain.length && host.substring(host.length - domain.length) === domain;
        };
        global.localHostOrDomainIs = function (host, full) {
            host = String(host).toLowerCase(); full = String(full).toLowerCase();
            return host === full || (host.indexOf(".") < 0 && full.indexOf(host + ".") === 0);
        };
        global.dnsDomainLevels = function (host) { return String(host).split(".").length - 1; };
        global.shExpMatch = function (text, pattern) { return matches(String(text), String(pattern)); };
        global.dnsResolve = function (host) { return firstV4(addresses(host)); };
        global.isResolvable = function (host) { return firstV4(addresses(host)) !== null; };
        global.convert_addr = function (text) { var all = v4(text); return all ? bits(all) : 0; };
        global.isInNet = function (host, network, mask) {
            var address = firstV4(addresses(host));
            if (address === null || !v4(network) || !v4(mask)) return false;
            return (bits(v4(address)) & bits(v4(mask))) === (bits(v4(network)) & bits(v4(mask)));
        };
        global.myIpAddress = function () { return firstV4(mine.split(";")) || "127.0.0.1"; };
        global.myIpAddressEx = function () { return mine; };
        global.dnsResolveEx = function (host) { return addresses(host).join(";"); };
        global.isResolvableEx = function (host) { return addresses(host).length > 0; };
        global.isInNetEx = function (host, network) {
            var parts = String(network).split("/"), base = bytes(parts[0]), length = Number(parts[1]), all = addresses(host);
            if (!base || parts.length !== 2 || !/^\d+$/.test(parts[1]) || length > base.length * 8) return false;
            for (var i = 0; i < all.length; i++) if (within(bytes(all[i]), base, length)) return true;
            return false;
        };
        global.sortIpAddressList = function (list) {
            var all = String(list).split(";"), keys = [];
            for (var i = 0; i < all.length; i++) {
                var text = all[i].replace(/\s/g, ""), value = bytes(text);
                if (!value) return false;
                keys.push([value, text]);
            }
            keys.sort(function (one, other) {
                if (one[0].length !== other[0].length) return other[0].length - one[0].length;
                for (var i = 0; i < one[0].length; i++) if (one[0][i] !== other[0][i]) return one[0][i] - other[0][i];
                return 0;
            });
            return keys.map(function (key) { return key[1]; }).join(";");
        };
        global.getClientVersion = function () { return "1.0"; };
        """#

    /// Functions for time ranges.
    private static let times = #"""
        var days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
        var months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
        function now(words) {
            var isUniversal = words.length > 0 && String(words[words.length - 1]).toUpperCase() === "GMT";
            if (isUniversal) words.pop();
            return clock(isUniversal);
        }
        function between(value, first, last) {
            return first <= last ? first <= value && value <= last : value >= first || value <= last;
        }
        global.weekdayRange = function () {
            var words = [].slice.call(arguments), today = now(words).getUTCDay();
            var all = words.map(function (word) { return days.indexOf(String(word).toUpperCase()); });
            if (all.length < 1 || all.length > 2 || all.indexOf(-1) >= 0) return false;
            return all.length === 1 ? today === all[0] : between(today, all[0], all[1]);
        };
        function dated(words) {
            var date = {};
            for (var i = 0; i < words.length; i++) {
                var month = months.indexOf(String(words[i]).toUpperCase()), number = Number(words[i]);
                var kind = month >= 0 ? "m" : number >= 1 && number <= 31 ? "d" : number > 31 ? "y" : null;
                if (!kind || date.hasOwnProperty(kind)) return null;
                date[kind] = month >= 0 ? month : number;
            }
            return date;
        }
        function kinds(date) { return date && (("y" in date ? "y" : "") + ("m" in date ? "m" : "") + ("d" in date ? "d" : "")); }
        function order(date, wanted) {
            function part(kind) { return wanted.indexOf(kind) >= 0 ? date[kind] : 0; }
            return (part("y") * 12 + part("m")) * 32 + part("d");
        }
        global.dateRange = function () {
            var words = [].slice.call(arguments), today = now(words);
            var date = { y: today.getUTCFullYear(), m: today.getUTCMonth(), d: today.getUTCDate() };
            var half = words.length / 2, single = dated(words);
            if (words.length === 0 || words.length > 6) return false;
            if (single) return order(date, kinds(single)) === order(single, kinds(single));
            if (half !== Math.floor(half)) return false;
            var first = dated(words.slice(0, half)), last = dated(words.slice(half)), wanted = kinds(first);
            if (!first || !last || kinds(last) !== wanted) return false;
            var value = order(date, wanted), from = order(first, wanted), to = order(last, wanted);
            return "y" in first ? from <= value && value <= to : between(value, from, to);
        };
        global.timeRange = function () {
            var words = [].slice.call(arguments), time = now(words), all = words.map(Number), n = all.length;
            for (var i = 0; i < n; i++) if (!(all[i] >= 0)) return false;
            var hour = time.getUTCHours(), second = (hour * 60 + time.getUTCMinutes()) * 60 + time.getUTCSeconds();
            if (n === 1) return hour === all[0];
            if (n === 2) return between(hour, all[0], all[1]);
            if (n === 4) return between(second, (all[0] * 60 + all[1]) * 60, (all[2] * 60 + all[3]) * 60 + 59);
            if (n === 6) return between(second, (all[0] * 60 + all[1]) * 60 + all[2], (all[3] * 60 + all[4]) * 60 + all[5]);
            return false;
        };
        """#
}
