import CausewayProtocols
import Testing

extension Loopback {
    @Suite("Functions of PAC scripts", .enabled(if: Script.canRun, Script.need))
    struct PACFunctionTests {
        struct Row: Sendable, CustomTestStringConvertible {
            var expression: String
            var value: String
            var testDescription: String { expression }

            init(_ expression: String, _ value: String) { (self.expression, self.value) = (expression, value) }
        }

        static let names: [Row] = [
            Row("isPlainHostName('www')", "true"), Row("isPlainHostName('www.example')", "false"),
            Row("isPlainHostName('::1')", "false"), Row("isPlainHostName('')", "true"),
            Row("dnsDomainIs('www.example.com', '.example.com')", "true"),
            Row("dnsDomainIs('www.example.com', 'example.com')", "true"),
            Row("dnsDomainIs('WWW.EXAMPLE.com', '.example.COM')", "true"),
            Row("dnsDomainIs('www', '.example.com')", "false"),
            Row("dnsDomainIs('www.example.org', '.example.com')", "false"),
            Row("localHostOrDomainIs('www.example.com', 'www.example.com')", "true"),
            Row("localHostOrDomainIs('www', 'www.example.com')", "true"),
            Row("localHostOrDomainIs('www.other.com', 'www.example.com')", "false"),
            Row("localHostOrDomainIs('ww', 'www.example.com')", "false"),
            Row("localHostOrDomainIs('www.example', 'www.example.com')", "false"),
            Row("dnsDomainLevels('www')", "0"), Row("dnsDomainLevels('www.example.com')", "2"),
            Row("shExpMatch('http://a.example/x', '*example*')", "true"),
            Row("shExpMatch('abc', 'a?c')", "true"), Row("shExpMatch('abc', 'a?d')", "false"),
            Row("shExpMatch('abc', 'ab')", "false"), Row("shExpMatch('abc', '*')", "true"),
            Row("shExpMatch('', '*')", "true"), Row("shExpMatch('', '?')", "false"),
            Row("shExpMatch('a.b', 'a.b')", "true"), Row("shExpMatch('axb', 'a.b')", "false"),
            Row("shExpMatch('a+b', 'a+b')", "true"), Row("shExpMatch('a*b', 'a*b')", "true"),
            Row("shExpMatch('ab', '*a*b*')", "true"), Row("shExpMatch('ba', '*a*b*')", "false"),
            Row("shExpMatch(Array(3000).join('a'), Array(30).join('*a') + 'b')", "false"),
        ]

        static let addresses: [Row] = [
            Row("dnsResolve('known.test')", "192.0.2.7"), Row("dnsResolve('unknown.test')", "null"),
            Row("dnsResolve('10.1.2.3')", "10.1.2.3"), Row("dnsResolve('six.test')", "null"),
            Row("dnsResolveEx('both.test')", "2001:db8::5;198.51.100.5"), Row("dnsResolveEx('unknown.test')", ""),
            Row("isResolvable('known.test')", "true"), Row("isResolvable('unknown.test')", "false"),
            Row("isResolvable('six.test')", "false"), Row("isResolvableEx('six.test')", "true"),
            Row("isResolvableEx('unknown.test')", "false"), Row("isResolvable('')", "false"),
            Row("isInNet('known.test', '192.0.2.0', '255.255.255.0')", "true"),
            Row("isInNet('known.test', '192.0.2.0', '255.255.255.248')", "true"),
            Row("isInNet('known.test', '192.0.2.0', '255.255.255.252')", "false"),
            Row("isInNet('10.255.1.2', '10.0.0.0', '255.0.0.0')", "true"),
            Row("isInNet('11.0.0.1', '10.0.0.0', '255.0.0.0')", "false"),
            Row("isInNet('unknown.test', '0.0.0.0', '0.0.0.0')", "false"),
            Row("isInNet('10.0.0.1', '10.0.0.0', 'x')", "false"),
            Row("isInNet('10.0.0.1', '10.0.0.999', '0.0.0.0')", "false"),
            Row("isInNetEx('known.test', '192.0.2.0/24')", "true"),
            Row("isInNetEx('known.test', '192.0.3.0/24')", "false"),
            Row("isInNetEx('six.test', '2001:db8::/32')", "true"),
            Row("isInNetEx('six.test', '2001:db9::/32')", "false"),
            Row("isInNetEx('2001:db8:ffff::1', '2001:db8:ff00::/40')", "true"),
            Row("isInNetEx('2001:db8:feff::1', '2001:db8:ff00::/40')", "false"),
            Row("isInNetEx('::1', '::/0')", "true"), Row("isInNetEx('::1', '0.0.0.0/0')", "false"),
            Row("isInNetEx('::1', '::/129')", "false"), Row("isInNetEx('::1', '::')", "false"),
            Row("isInNetEx('::ffff:192.0.2.1', '::ffff:192.0.2.0/120')", "true"),
            Row("convert_addr('1.2.3.4')", "16909060"), Row("convert_addr('255.255.255.255')", "-1"),
            Row("convert_addr('256.0.0.1')", "0"), Row("convert_addr('x')", "0"),
            Row(
                "sortIpAddressList('10.0.0.2;2001:db8::2;9.0.0.1;2001:db8::1')",
                "2001:db8::1;2001:db8::2;9.0.0.1;10.0.0.2"),
            Row("sortIpAddressList('10.0.0.2;x')", "false"), Row("/^[0-9.]+$/.test(myIpAddress())", "true"),
            Row("typeof myIpAddressEx()", "string"), Row("getClientVersion()", "1.0"),
        ]

        static let times: [Row] = [
            Row("weekdayRange(days[today.getDay()])", "true"),
            Row("weekdayRange(days[(today.getDay() + 1) % 7])", "false"),
            Row("weekdayRange('SUN', 'SAT')", "true"), Row("weekdayRange('mon', 'sun', 'gmt')", "true"),
            Row("weekdayRange(days[today.getDay()], days[(today.getDay() + 1) % 7])", "true"),
            Row("weekdayRange(days[(today.getDay() + 1) % 7], days[(today.getDay() + 6) % 7])", "false"),
            Row("weekdayRange(days[today.getUTCDay()], 'GMT')", "true"), Row("weekdayRange('day')", "false"),
            Row("weekdayRange()", "false"),
            Row("dateRange(today.getDate())", "true"), Row("dateRange(today.getDate() % 28 + 1)", "false"),
            Row("dateRange(1, 31)", "true"), Row("dateRange(months[today.getMonth()])", "true"),
            Row("dateRange(months[(today.getMonth() + 1) % 12])", "false"), Row("dateRange('JAN', 'DEC')", "true"),
            Row("dateRange('DEC', 'NOV')", "true"), Row("dateRange(today.getFullYear())", "true"),
            Row("dateRange(today.getFullYear() + 1)", "false"), Row("dateRange(2000, 2999)", "true"),
            Row("dateRange(1990, 1999)", "false"), Row("dateRange(2999, 2000)", "false"),
            Row("dateRange(today.getDate(), months[today.getMonth()])", "true"),
            Row("dateRange(today.getDate(), months[today.getMonth()], today.getFullYear())", "true"),
            Row("dateRange(today.getDate(), months[today.getMonth()], today.getFullYear() - 1)", "false"),
            Row("dateRange(1, 'JAN', 31, 'DEC')", "true"), Row("dateRange('JAN', 2000, 'DEC', 2999)", "true"),
            Row("dateRange(1, 'JAN', 2000, 31, 'DEC', 2999)", "true"),
            Row("dateRange(1, 'JAN', 1990, 31, 'DEC', 1999, 'GMT')", "false"),
            Row("dateRange(today.getUTCDate(), 'GMT')", "true"), Row("dateRange(1, 'JAN', 2, 3)", "false"),
            Row("dateRange()", "false"), Row("dateRange('x')", "false"),
            Row("timeRange(today.getHours())", "true"), Row("timeRange((today.getHours() + 1) % 24)", "false"),
            Row("timeRange(0, 23)", "true"), Row("timeRange(12, 11)", "true"), Row("timeRange(0, 0, 23, 59)", "true"),
            Row("timeRange(0, 0, 0, 23, 59, 59)", "true"), Row("timeRange(0, 0, 0, 23, 59, 59, 'GMT')", "true"),
            Row("timeRange(today.getUTCHours(), 'GMT')", "true"),
            Row("timeRange((today.getHours() + 2) % 24, 0, (today.getHours() + 23) % 24, 0)", "false"),
            Row("timeRange()", "false"), Row("timeRange(1, 2, 3)", "false"), Row("timeRange('x')", "false"),
        ]

        static let dates: [Row] = [
            Row("new Date(2020, 1, 3, 4, 5, 6).getHours()", "4"), Row("new Date(2020, 1, 3, 4, 5, 6).getMonth()", "1"),
            Row("new Date(2020, 0, 31).getDate()", "31"), Row("new Date(0).getTime()", "0"),
            Row("new Date('2020-02-03T04:05:06Z').getTime()", "1580702706000"),
            Row("isNaN(Date.parse('3 Feb 2020'))", "true"), Row("new Date() instanceof Date", "true"),
            Row("new Date().constructor === Date", "true"), Row("typeof Date()", "string"),
            Row("new Date(new Date(5)).getTime()", "5"),
            Row(
                "(function () { var d = new Date(2020, 0, 1); d.setHours(25); return d.getDate() + ' ' + d.getHours(); })()",
                "2 1"),
            Row(
                "new Date(2020, 0, 1).getTime() - Date.UTC(2020, 0, 1) === new Date().getTimezoneOffset() * 60000",
                "true"),
            Row("typeof Duktape", "undefined"), Row("typeof ask", "undefined"), Row("typeof require", "undefined"),
        ]

        @Test(arguments: names + addresses + times + dates)
        func value(_ row: Row) async throws {
            let known = KnownNames(table: [
                "known.test": ["192.0.2.7"], "six.test": ["2001:db8::6"], "both.test": ["2001:db8::5", "198.51.100.5"],
            ])
            let script = """
                var days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"], today = new Date();
                var months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
                function FindProxyForURL(url, host) { return String(\(row.expression)); }
                """
            let report = try await Script.evaluate(script, names: known)
            #expect(report.result == .success(row.value))
        }
    }
}
