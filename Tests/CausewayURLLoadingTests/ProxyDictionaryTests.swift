import Causeway
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Proxy dictionaries in the forms that programs write (§22)")
struct ProxyDictionaryTests {
    /// A proxy dictionary, and the proxies that it selects for `http` and `https`.
    struct Row: @unchecked Sendable, CustomTestStringConvertible {
        let name: String
        let dictionary: [AnyHashable: Any]
        let plain: [String]
        let secure: [String]
        var testDescription: String { name }

        init(_ name: String, _ dictionary: [AnyHashable: Any], _ plain: [String], _ secure: [String]? = nil) {
            (self.name, self.dictionary, self.plain) = (name, dictionary, plain)
            self.secure = secure ?? plain
        }
    }

    private static let socks = "SOCKSv5 127.0.0.1:9050"
    private static let connect = "HTTP CONNECT proxy.test:8080"

    static let used = [
        Row("empty", [:], []),
        Row("SOCKS without its switch", [kCFNetworkProxiesSOCKSProxy: "127.0.0.1", "SOCKSPort": 9050], [socks]),
        Row(
            "the names of streams",
            [
                kCFStreamPropertySOCKSProxyHost as String: "127.0.0.1",
                kCFStreamPropertySOCKSProxyPort as String: 9050,
                kCFStreamPropertySOCKSVersion as String: kCFStreamSocketSOCKSVersion5,
            ], [socks]),
        Row(
            "keys of the type NSString",
            ["SOCKSProxy" as NSString: "127.0.0.1", "SOCKSPort" as NSString: NSNumber(value: 9050)], [socks]),
        Row(
            "a type, and the names of streams",
            [
                kCFProxyTypeKey: kCFProxyTypeSOCKS, "SOCKSProxy": "127.0.0.1", "SOCKSPort": "9050",
                "SOCKSVersion": "5",
            ], [socks]),
        Row(
            "a type, its host and its port",
            [kCFProxyTypeKey: kCFProxyTypeSOCKS, kCFProxyHostNameKey: "127.0.0.1", kCFProxyPortNumberKey: 9050],
            [socks]),
        Row(
            "the type HTTP serves all schemes",
            [kCFProxyTypeKey: kCFProxyTypeHTTP, kCFProxyHostNameKey: "proxy.test", kCFProxyPortNumberKey: 8080],
            [connect]),
        Row("the type none", [kCFProxyTypeKey: kCFProxyTypeNone], []),
        Row(
            "the property of a stream",
            [kCFStreamPropertySOCKSProxy: ["SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050] as [String: Any]], [socks]),
        Row("HTTP without its switch", ["HTTPProxy": "proxy.test", "HTTPPort": 8080], [connect], []),
        Row("HTTPS without its switch", ["HTTPSProxy": "proxy.test", "HTTPSPort": "8080"], [], [connect]),
        Row("a switch as text", ["HTTPEnable": "1", "HTTPProxy": "proxy.test", "HTTPPort": 8080], [connect], []),
        Row("switched off", ["SOCKSEnable": 0, "SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050], []),
        Row("switched off by text", ["SOCKSEnable": "no", "SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050], []),
        Row(
            "a script without its switch", [kCFNetworkProxiesProxyAutoConfigURLString: "http://127.0.0.1/a.pac"],
            ["script http://127.0.0.1/a.pac"]),
        Row("exceptions only", [kCFNetworkProxiesExceptionsList: ["a.test"]], []),
        Row("FTP only", ["FTPEnable": 1, "FTPProxy": "ftp.test", "FTPPort": 21], []),
    ]

    @Test("A proxy that the dictionary names is used", arguments: used)
    func uses(_ row: Row) throws {
        let dictionary = ProxyDictionary(row.dictionary)
        #expect(try dictionary.proxies(for: "http").map(\.debugDescription) == row.plain)
        #expect(try dictionary.proxies(for: "https").map(\.debugDescription) == row.secure)
    }

    static let refused = [
        Row("a host without a port", ["SOCKSProxy": "127.0.0.1"], []),
        Row("a port without a host", ["SOCKSPort": 9050], []),
        Row("port 0", ["SOCKSProxy": "127.0.0.1", "SOCKSPort": 0], []),
        Row("a port with a sign", ["SOCKSProxy": "127.0.0.1", "SOCKSPort": "+9050"], []),
        Row("a switch that is neither on nor off", ["SOCKSEnable": "perhaps"], []),
        Row("a type without a location", [kCFProxyTypeKey: kCFProxyTypeSOCKS], []),
        Row("an unknown type", [kCFProxyTypeKey: "kCFProxyTypeOther", kCFProxyHostNameKey: "a"], []),
        Row("a location without a type", [kCFProxyHostNameKey: "127.0.0.1", kCFProxyPortNumberKey: 9050], []),
        Row("unknown keys", ["SOCKSHost": "127.0.0.1", "SocksPort": 9050], []),
        Row("a property of a stream that is no dictionary", [kCFStreamPropertySOCKSProxy: "127.0.0.1:9050"], []),
        Row("a script that is no URL", [kCFNetworkProxiesProxyAutoConfigURLString: ""], []),
        Row(
            "an unknown version of SOCKS",
            ["SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050, kCFStreamPropertySOCKSVersion: "6"], []),
    ]

    @Test("A proxy that cannot be used is an error, not a direct connection", arguments: refused)
    func refuses(_ row: Row) {
        let dictionary = ProxyDictionary(row.dictionary)
        for scheme in ["http", "https"] {
            #expect(throws: NWError.posix(.EINVAL)) { try dictionary.proxies(for: scheme) }
        }
    }

    @Test("SOCKS 4 and FTP proxies are not supported")
    func unsupported() {
        let old: [AnyHashable: Any] = [
            "SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050, kCFStreamPropertySOCKSVersion: kCFStreamSocketSOCKSVersion4,
        ]
        #expect(throws: NWError.posix(.EPROTONOSUPPORT)) { try ProxyDictionary(old).proxies(for: "http") }
        let files: [AnyHashable: Any] = [kCFProxyTypeKey: kCFProxyTypeFTP]
        #expect(throws: NWError.posix(.EPROTONOSUPPORT)) { try ProxyDictionary(files).proxies(for: "http") }
    }

    @Test("The credential of SOCKS has its own keys; the other one is for all proxies")
    func credentials() throws {
        var dictionary: [AnyHashable: Any] = [
            "SOCKSProxy": "127.0.0.1", "SOCKSPort": 9050, "HTTPProxy": "proxy.test", "HTTPPort": 8080,
            kCFProxyUsernameKey: "all", kCFProxyPasswordKey: "secret",
        ]
        #expect(
            try ProxyDictionary(dictionary).proxies(for: "http").map { $0.credential?.username } == ["all", "all"])
        dictionary[kCFStreamPropertySOCKSUser] = "socks"
        dictionary[kCFStreamPropertySOCKSPassword] = "other"
        let proxies = try ProxyDictionary(dictionary).proxies(for: "http")
        #expect(proxies.map { $0.credential?.username } == ["all", "socks"])
        #expect(proxies.map { $0.credential?.password } == ["secret", "other"])
    }

    // MARK: The system

    @Test("The proxies of the environment, as a dictionary that gives the same proxies")
    func system() throws {
        let variables = [
            "http_proxy": "http://u:p@proxy.test:3128", "https_proxy": "socks5://127.0.0.1:1080", "no_proxy": "a.test",
        ]
        let settings = SystemProxies.settings(variables)
        #expect(settings["HTTPProxy"] as? String == "proxy.test" && settings["HTTPPort"] as? Int == 3128)
        #expect(settings["SOCKSProxy"] as? String == "127.0.0.1" && settings["SOCKSPort"] as? Int == 1080)
        #expect((settings["ExceptionsList"] as? [String])?.contains("a.test") == true)
        #expect(!"\(settings)".contains("u:p"))
        #expect(
            try ProxyDictionary(settings).proxies(for: "https").map(\.debugDescription) == ["SOCKSv5 127.0.0.1:1080"])
        #expect(SystemProxies.settings([:]).isEmpty)
        let script = SystemProxies.settings(["auto_proxy": "http://127.0.0.1/a.pac"])
        #expect(script["ProxyAutoConfigURLString"] as? String == "http://127.0.0.1/a.pac")
    }

    @Test(
        "The proxies for a URL, with their types",
        arguments: [
            ("http://b.test/", ["kCFProxyTypeHTTP", "kCFProxyTypeSOCKS"]),
            ("https://b.test/", ["kCFProxyTypeSOCKS"]), ("http://x.a.test/", ["kCFProxyTypeNone"]),
        ])
    func forURL(_ text: String, _ types: [String]) throws {
        let settings: [String: Any] = [
            "HTTPEnable": 1, "HTTPProxy": "proxy.test", "HTTPPort": 3128, "SOCKSProxy": "127.0.0.1", "SOCKSPort": 1080,
            "ExceptionsList": ["*.a.test"],
        ]
        let proxies = CFNetworkCopyProxiesForURL(try #require(URL(string: text)), settings).takeRetainedValue()
        #expect(proxies.map { ($0 as? [String: Any])?[kCFProxyTypeKey] as? String } == types)
    }

    @Test(
        "An exception with a port applies to the default port of the scheme",
        arguments: [
            ("http://b.test/", false), ("http://b.test:443/", true), ("https://b.test/", true),
            ("https://b.test:80/", false), ("wss://b.test/", true),
        ])
    func portOfException(_ text: String, _ isDirect: Bool) throws {
        let settings: [String: Any] = ["SOCKSProxy": "127.0.0.1", "SOCKSPort": 1080, "ExceptionsList": ["b.test:443"]]
        let proxies = try SystemProxies.proxies(for: try #require(URL(string: text)), settings)
        #expect(proxies.map { $0[kCFProxyTypeKey] as? String } == [isDirect ? kCFProxyTypeNone : kCFProxyTypeSOCKS])
    }

    @Test(
        "Host names without a dot need no proxy if the dictionary excludes them",
        arguments: [
            ("http://printer/", true), ("https://printer:8443/", true), ("http://printer.test/", false),
            ("http://127.0.0.1/", false), ("http://[2001:db8::1]/", false),
        ])
    func simpleHostnames(_ text: String, _ isSimple: Bool) throws {
        let url = try #require(URL(string: text))
        var settings: [String: Any] = ["SOCKSProxy": "127.0.0.1", "SOCKSPort": 1080]
        for (value, isExcluded) in [(nil, false), (0, false), (1, true)] as [(Int?, Bool)] {
            settings[kCFNetworkProxiesExcludeSimpleHostnames] = value
            let types = try SystemProxies.proxies(for: url, settings).map { $0[kCFProxyTypeKey] as? String }
            #expect(types == [isSimple && isExcluded ? kCFProxyTypeNone : kCFProxyTypeSOCKS])
        }
    }

    @Test("Settings that are not valid have no proxies, and no direct connection")
    func invalid() throws {
        let url = try #require(URL(string: "http://b.test/"))
        #expect(CFNetworkCopyProxiesForURL(url, ["SOCKSPort": 1]).takeRetainedValue().isEmpty)
    }
}
