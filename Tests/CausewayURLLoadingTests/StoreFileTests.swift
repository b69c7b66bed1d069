import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Stores in files (§9, §10)")
struct StoreFileTests {
    /// A directory that is removed after the test.
    final class Directory {
        let path = NSTemporaryDirectory() + "causeway-store-" + UUID().uuidString
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    let directory = Directory()
    let url = URL(string: "https://www.example.com/a")!

    func cookies() -> HTTPCookieStorage { HTTPCookieStorage(directory: directory.path, savesAtExit: false) }

    func credentials() -> URLCredentialStorage { URLCredentialStorage(directory: directory.path, savesAtExit: false) }

    func receive(_ fields: String..., in storage: HTTPCookieStorage) {
        storage.setCookies(fields.compactMap { HTTPCookie(field: $0, for: url) }, for: url, mainDocumentURL: nil)
    }

    @Test("Credentials that are in the Secret Service get into no file while the service is away")
    func serviceIsAway() throws {
        let (space, file) = (
            URLProtectionSpace(host: "a", port: 1, protocol: nil, realm: nil, authenticationMethod: nil),
            PrivateFile(directory: directory.path, name: "credentials")
        )
        let away = CredentialVault.Place.service(SecretServicePlace(addresses: [], application: "tests"))
        for (place, isMoved) in [(away, false), (away, true), (.fileWithoutService, true), (.file, true)] {
            _ = file.update { _ in isMoved ? Array("causeway credentials are in the Secret Service\n".utf8) : [] }
            let storage = URLCredentialStorage(directory: directory.path, place: place, savesAtExit: false)
            storage.set(URLCredential(user: "u", password: "secret", persistence: .permanent), for: space)
            storage.flush()
            var isFile = !isMoved
            if case .file = place { isFile = true }
            let content = String(decoding: file.read() ?? [], as: UTF8.self)
            #expect(content.contains("secret") == isFile, "\(place)")
            #expect(storage.credentials(for: space)?.keys.first == "u")
        }
    }

    @Test("Cookies outlive the storage, session cookies do not")
    func cookiesPersist() throws {
        let one = cookies()
        receive(
            "a=1; Max-Age=1000; Secure; HttpOnly; SameSite=Strict; Path=/", "s=1",
            "b=2; Max-Age=1000; Domain=example.com", in: one)
        one.flush()
        let other = cookies()
        let expected = (one.cookies ?? []).filter { !$0.isSessionOnly }
        #expect(expected.map(\.name) == ["a", "b"])
        #expect(other.cookies(for: url)?.map(\.name) == ["a", "b"])
        let first = try #require(other.cookies?.first)
        #expect(first.isSecure && first.isHTTPOnly && first.sameSitePolicy == .sameSiteStrict && first.path == "/")
        #expect(other.cookies?.last?.domain == ".example.com")
        one.deleteCookie(try #require(one.cookies?.first { $0.name == "a" }))
        one.flush()
        #expect(cookies().cookies?.map(\.name) == ["b"])
        one.removeCookies(since: .distantPast)
        one.flush()
        #expect(cookies().cookies?.isEmpty == true)
    }

    @Test("The file is private, and its directory, too")
    func permissions() throws {
        let storage = cookies()
        receive("a=1; Max-Age=1000", in: storage)
        storage.flush()
        func mode(_ path: String) throws -> Int {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return try #require(facts[.posixPermissions] as? NSNumber).intValue
        }
        #expect(try mode(directory.path) == 0o700)
        #expect(try mode(directory.path + "/cookies") == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["cookies", "cookies.lock"])
    }

    @Test("Hosts that want secure connections outlive the store, in a private file; a damaged one is ignored")
    func strictTransport() throws {
        func store() -> StrictTransportStore { StrictTransportStore(directory: directory.path, savesAtExit: false) }
        var fields = FieldSection()
        fields.append("Strict-Transport-Security", "max-age=1000")
        let policy = try #require(StrictTransportPolicy(fields))
        let target = try #require(URIReference("http://www.example.com:80/a"))
        let one = store()
        #expect(one.isEmpty && one.secured(target) == nil)
        one.note(policy, of: HTTPOrigin(isSecure: true, host: "www.example.com"))
        one.flush()
        #expect(store().secured(target)?.description == "https://www.example.com/a")
        let file = directory.path + "/strict-transport"
        let facts = try FileManager.default.attributesOfItem(atPath: file)
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        // With these permissions, other users may write to the file. So the store does not use the file.
        #expect(chmod(file, 0o622) == 0)
        #expect(store().isEmpty)
        try Data("damage".utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o600) == 0)
        let other = store()
        #expect(other.isEmpty)
        other.note(policy, of: HTTPOrigin(isSecure: true, host: "b.example"))
        other.flush()
        #expect(!store().isEmpty)
        other.removeAll()
        other.flush()
        #expect(store().isEmpty && other.isEmpty)
    }

    @Test("Default sessions share the memory of hosts, others have their own; reset forgets it")
    func strictTransportOfSessions() async throws {
        let store = StrictTransportStore(directory: directory.path, savesAtExit: false)
        let configuration = URLSessionConfiguration.default
        #expect(configuration.settings.stores.strictTransport === StrictTransportStore.shared)
        #expect(URLSessionConfiguration.background(withIdentifier: "x").settings.stores.strictTransport != nil)
        #expect(URLSessionConfiguration.ephemeral.settings.stores.strictTransport == nil)
        configuration.settings.stores = .init(strictTransport: store)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var fields = FieldSection()
        fields.append("Strict-Transport-Security", "max-age=1000")
        session.core.network.noteStrictTransport(fields, of: HTTPOrigin(isSecure: true, host: "a.example"))
        await session.flush()
        #expect(!StrictTransportStore(directory: directory.path, savesAtExit: false).isEmpty)
        await session.reset()
        await session.flush()
        #expect(StrictTransportStore(directory: directory.path, savesAtExit: false).isEmpty)
    }

    @Test("`nw transfers` uses the program's hosts with strict transport security, unless the session does not")
    func strictTransportOfTransfers() throws {
        var settings = SessionSettings()
        settings.background.identifier = "test"
        #expect(SessionRecord(settings, program: "p").settings(stores: directory.path).stores.strictTransport == nil)
        settings.stores.strictTransport = StrictTransportStore(directory: nil)
        let stores = SessionRecord(settings, program: "p").settings(stores: directory.path).stores
        let opened = try #require(stores.strictTransport)
        var fields = FieldSection()
        fields.append("Strict-Transport-Security", "max-age=1000")
        let known = StrictTransportStore(directory: directory.path, savesAtExit: false)
        known.note(try #require(StrictTransportPolicy(fields)), of: HTTPOrigin(isSecure: true, host: "a.example"))
        known.flush()
        #expect(!opened.isEmpty)
    }

    @Test("Two storages with one file keep each other's cookies")
    func shared() {
        let (one, other) = (cookies(), cookies())
        receive("a=1; Max-Age=1000", in: one)
        receive("b=2; Max-Age=1000", in: other)
        one.flush()
        other.flush()
        #expect(Set(cookies().cookies?.map(\.name) ?? []) == ["a", "b"])
        #expect(Set(other.cookies?.map(\.name) ?? []) == ["a", "b"])
        // The first storage learns of the other storage's cookie when it writes to the file again. It learns of a
        // removal in the same way.
        receive("c=3; Max-Age=1000", in: one)
        one.flush()
        #expect(one.cookies?.count == 3)
        other.removeCookies(since: .distantPast)
        other.flush()
        receive("d=4; Max-Age=1000", in: one)
        one.flush()
        #expect(one.cookies?.map(\.name) == ["d"] && cookies().cookies?.map(\.name) == ["d"])
    }

    @Test("A cookie that has expired here and that another process has set again is adopted")
    func setAgain() {
        func record(_ end: Double) -> CookieRecord {
            CookieRecord(Cookie(name: Array("a".utf8), value: [], domain: "h.example", expires: .seconds(end)))
        }
        var jar = CookieJar(hasFile: true)
        jar.load([record(2_000)], at: .seconds(1_000))
        jar.adopt([record(4_000)], at: .seconds(3_000))
        let count = jar.all(at: .seconds(3_000)).count
        #expect(count == 1)
    }

    @Test("A cookie of the program that the file cannot contain stays in memory")
    func keptInMemory() throws {
        let storage = cookies()
        let long = HTTPCookie(properties: [
            .name: "long", .value: String(repeating: "x", count: 5_000), .domain: "h.example", .path: "/",
            .maximumAge: "1000",
        ])
        storage.setCookie(try #require(long))
        storage.flush()
        for field in ["a=1; Max-Age=1000", "b=1; Max-Age=1000"] {
            receive(field, in: storage)
            storage.flush()
        }
        #expect(storage.cookies?.map(\.name) == ["long", "a", "b"])
        #expect(cookies().cookies?.map(\.name) == ["a", "b"])
    }

    @Test("Writers at the same time lose nothing")
    func concurrent() async {
        let (path, url) = (directory.path, url)
        let storages: [HTTPCookieStorage] = await withTaskGroup(of: [HTTPCookieStorage].self) { group in
            for writer in 0..<4 {
                group.addTask {
                    (0..<5).map { number in
                        let storage = HTTPCookieStorage(directory: path, savesAtExit: false)
                        let cookie = HTTPCookie(field: "n\(writer)-\(number)=v; Max-Age=1000", for: url)
                        storage.setCookies([cookie].compactMap { $0 }, for: url, mainDocumentURL: nil)
                        storage.flush()
                        return storage
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        // On a slow disk, a writer may not get the lock in its two seconds. Its cookie then stays in the storage, and
        // is written together with the next change.
        for storage in storages {
            receive("last=v; Max-Age=1000", in: storage)
            storage.flush()
        }
        #expect(cookies().cookies?.count == 21)
    }

    @Test("A hostile or damaged file costs its cookies and is replaced")
    func hostile() throws {
        let file = directory.path + "/cookies"
        try FileManager.default.createDirectory(
            atPath: directory.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for content in [[], [0], Array("causeway cookies 1\nxxxx\n".utf8), [UInt8](repeating: 0xFF, count: 100_000)] {
            try Data(content).write(to: URL(fileURLWithPath: file))
            #expect(chmod(file, 0o600) == 0)
            let storage = cookies()
            #expect(storage.cookies?.isEmpty == true)
            receive("a=1; Max-Age=1000", in: storage)
            storage.flush()
            #expect(cookies().cookies?.count == 1)
        }
        // Now other users can write to the file. The store must therefore not use it.
        #expect(chmod(file, 0o622) == 0)
        #expect(cookies().cookies?.isEmpty == true)
        // Another program has replaced the file by a symbolic link to a second file. The store must neither read nor
        // change the second file.
        let target = directory.path + "/target"
        #expect(rename(file, target) == 0 && chmod(target, 0o600) == 0 && symlink(target, file) == 0)
        let before = FileManager.default.contents(atPath: target)
        let storage = cookies()
        #expect(storage.cookies?.isEmpty == true)
        receive("b=1; Max-Age=1000", in: storage)
        storage.flush()
        #expect(FileManager.default.contents(atPath: target) == before)
        #expect(cookies().cookies?.map(\.name) == ["b"])
    }

    @Test("A file that cannot be read now keeps its cookies, and gets the others later")
    func unreadable() throws {
        let storage = cookies()
        receive("a=1; Max-Age=1000", in: storage)
        storage.flush()
        let other = cookies()
        _ = other.cookies
        do {
            let file = try UnreadableFile(directory.path + "/cookies")
            receive("b=1; Max-Age=1000", in: other)
            other.flush()
            _ = consume file
        }
        #expect(other.cookies?.count == 2)
        #expect(cookies().cookies?.map(\.name) == ["a"])
        receive("c=1; Max-Age=1000", in: other)
        other.flush()
        #expect(cookies().cookies?.count == 3)
    }

    @Test("A directory that cannot be written costs nothing but the file")
    func unwritable() throws {
        try Data().write(to: URL(fileURLWithPath: directory.path))
        let storage = cookies()
        receive("a=1; Max-Age=1000", in: storage)
        storage.flush()
        #expect(storage.cookies?.count == 1)
    }

    @Test("Clocks: expired cookies of the file are not read; a creation time in the future becomes the present")
    func clocks() {
        let storage = cookies()
        receive("a=1; Max-Age=1000", in: storage)
        storage.flush()
        var jar = CookieJar(hasFile: true)
        jar.load(records(), at: .seconds(1_000))
        jar.removeAll(since: .seconds(1_000))
        #expect(jar.all(at: .seconds(1_000)).count == 1)
        var late = CookieJar(hasFile: true)
        late.load(records(), at: .seconds(90_000_000_000))
        #expect(late.isEmpty && late.isLoaded)
    }

    func records() -> [CookieRecord] {
        CookieRecord.decode(PrivateFile(directory: directory.path, name: "cookies").read() ?? [])
    }

    @Test("Permanent credentials outlive the storage")
    func credentialsPersist() {
        let one = credentials()
        let web = URLProtectionSpace(
            host: "h", port: 80, protocol: "http", realm: "r\t\n%",
            authenticationMethod: NSURLAuthenticationMethodHTTPDigest)
        let proxy = URLProtectionSpace(
            proxyHost: "p", port: 3128, type: NSURLProtectionSpaceHTTPProxy, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        one.setDefaultCredential(URLCredential(user: "u", password: "p\u{FC} ", persistence: .permanent), for: web)
        one.set(URLCredential(user: "s", password: "x", persistence: .forSession), for: web)
        one.set(URLCredential(user: "w", password: "", persistence: .synchronizable), for: proxy)
        one.flush()
        let other = credentials()
        #expect(other.allCredentials.keys.count == 2)
        #expect(other.defaultCredential(for: web)?.password == "p\u{FC} ")
        #expect(other.credentials(for: web)?.keys.sorted() == ["u"])
        #expect(other.credentials(for: proxy)?["w"]?.persistence == .synchronizable)
        #expect(one.credentials(for: web)?.count == 2)
        other.set(URLCredential(user: "v", password: "q", persistence: .permanent), for: proxy)
        other.flush()
        one.remove(URLCredential(user: "u", password: "p\u{FC} ", persistence: .permanent), for: web)
        one.flush()
        #expect(credentials().allCredentials.mapValues { $0.keys.sorted() } == [proxy: ["v", "w"]])
        #expect(one.credentials(for: web)?.keys.sorted() == ["s"] && one.credentials(for: proxy)?.count == 2)
        one.removeAll()
        one.flush()
        #expect(credentials().allCredentials.isEmpty)
    }

    @Test("Damage to the file costs the damaged credentials only")
    func damagedCredentials() {
        var table = CredentialTable()
        let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: nil)
        for user in ["a", "b"] {
            _ = table.store(
                URLCredential(user: user, password: "p", persistence: .permanent), for: space, asDefault: true)
        }
        let file = CredentialTable.encode(table.entries)
        #expect(CredentialTable.decode(file)[space]?.credentials == table.entries[space]?.credentials)
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 0x01
            let decoded = CredentialTable.decode(damaged)
            #expect(decoded.count <= 1 && decoded[space]?.credentials.count ?? 0 <= 2)
            #expect(CredentialTable.decode(Array(file.prefix(index)))[space]?.credentials.count ?? 0 < 2)
        }
    }

    @Test("The directory belongs to the program, and to no test")
    func location() {
        #expect(StoreDirectory.application == nil && StoreDirectory.group("g") == nil)
        #expect(StoreDirectory.isTestRunner("causewayPackageTests.xctest") && !StoreDirectory.isTestRunner("program"))
        let home = ["HOME": "/h"]
        #expect(
            StoreDirectory.path(in: home, "programs", "org.example.App")
                == "/h/.local/share/causeway/programs/org.example.App")
        #expect(
            StoreDirectory.path(in: ["XDG_DATA_HOME": "/x", "HOME": "/h"], "groups", "../é")
                == "/x/causeway/groups/_..__")
        #expect(
            StoreDirectory.path(in: ["XDG_DATA_HOME": "x", "HOME": "/h"], "groups", "")
                == "/h/.local/share/causeway/groups/_")
        #expect(StoreDirectory.path(in: ["HOME": "h"], "groups", "g") == nil)
    }

    @Test("The list of the system replaces the built-in suffixes, and forbidden cookies go")
    func suffixes() async throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let file = directory.path + "/list"
        let rules = ["example.com"] + (0...PublicSuffixes.shared.list.count).map { "n\($0).test" }
        try Data(rules.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
        let suffixes = PublicSuffixes(file: file)
        let storage = HTTPCookieStorage(directory: nil, suffixes: suffixes)
        receive("a=1; Domain=example.com", "b=1", in: storage)
        // The first cookies have started the load of the list, and it may have ended already.
        while !suffixes.list.isPublicSuffix("example.com") { await Task.yield() }
        // The list is loaded now, so this call of `prepare` must not call its closure.
        suffixes.prepare { Issue.record("called late") }
        // The storage removes the cookie a moment after the list was replaced.
        while storage.cookies?.count != 1 { await Task.yield() }
        #expect(storage.cookies?.map(\.name) == ["b"])
    }
}
