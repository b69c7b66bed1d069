import CausewayHTTPProtocols
import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

/// Tests the files that store the records of background tasks and sessions.
extension BackgroundTests {
    @Test("A damaged record is reported, and never read")
    func damage() async throws {
        var record = record(5, upload: "/a")
        record.uploadState = Data([1, 2, 3])
        let file = try #require(record.encoded)
        #expect(TransferRecord(file, identifier: 5) != nil && TransferRecord(file, identifier: 6) == nil)
        let foreign = URLRequest(url: URL(fileURLWithPath: "/etc/passwd"))
        let other = try #require(TransferRecord(identifier: 5, request: foreign, uploadPath: nil).encoded)
        #expect(TransferRecord(other, identifier: 5) == nil)
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 1 << UInt8(index % 8)
            #expect(TransferRecord(damaged, identifier: 5) == nil)
            #expect(TransferRecord(Array(file[..<index]), identifier: 5) == nil)
        }
        try FileManager.default.createDirectory(
            atPath: directory.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let place = directory.path + "/program/test"
        let store = try #require(TransferStore(place))
        try Data(file.dropLast()).write(to: URL(fileURLWithPath: place + "/task-5"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place + "/task-5")
        let transfers = BackgroundTransfers(root: directory.path)
        let found = try #require(transfers.sessions().first)
        #expect(found.damaged == ["task-5"] && found.items.isEmpty && found.activity == nil)
        let calls = Calls()
        let session = URLSession(configuration: configuration, delegate: calls, transfersIn: place)
        #expect(session.downloadTask(with: url).taskIdentifier == 6)
        #expect(transfers.sessions().first?.activity == "program" && !transfers.remove(found))
        session.invalidateAndCancel()
        await calls.wait(for: 2)
        #expect(!store.isLocked(.owner) && transfers.remove(found) && transfers.sessions().isEmpty)
    }

    /// Calls a closure while the process can open at most `count` more descriptors.
    private static func withDescriptors<Result>(_ count: CInt, _ body: () -> Result) -> Result {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var usual = rlimit()
        precondition(getrlimit(resource, &usual) == 0)
        let lowest = dup(0)
        close(lowest)
        var limit = rlimit(rlim_cur: rlim_t(lowest + count), rlim_max: usual.rlim_max)
        precondition(setrlimit(resource, &limit) == 0)
        defer { _ = setrlimit(resource, &usual) }
        return body()
    }

    @Test("A store that cannot be read now is not taken for an empty one")
    func unreadableStore() async {
        await #expect(processExitsWith: .success) {
            let tests = BackgroundTests()
            let store = try #require(TransferStore(tests.directory.path + "/program/test"))
            #expect(store.write(tests.record(5)))
            let (found, session) = Self.withDescriptors(0) {
                (store.identifiers, try? BackgroundSession(store, tests.settings, role: .owner, program: "p"))
            }
            #expect(found == nil && session == nil)
            let transfers = BackgroundTransfers(root: tests.directory.path)
            // With only one free file descriptor, the code can open the session's directory but cannot list it.
            let unreadable = try #require(Self.withDescriptors(1) { transfers.sessions().first })
            #expect(!unreadable.isReadable && unreadable.identifier == "test" && unreadable.items.isEmpty)
            let readable = try #require(transfers.sessions().first)
            #expect(readable.isReadable && readable.items.map(\.identifier) == [5])
        }
    }

    @Test(
        "A property list with other values is no record",
        arguments: ["identifier", "stageName", "content", "request", "options"])
    func otherValues(_ key: String) throws {
        let changes: [String: Any] = [
            "identifier": -1, "stageName": 7, "content": "x", "request": [String: String](), "options": ["priority": 9],
        ]
        let file = try #require(record(5).encoded)
        let start = try #require(file.firstIndex(of: 0x0A)) + 1
        var list = try #require(
            try PropertyListSerialization.propertyList(from: Data(file[start...]), format: nil) as? [String: Any])
        list[key] = changes[key]
        let body = Array(try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        let digits = String(CacheChecksum.of(body), radix: 16)
        let sum = Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
        #expect(TransferRecord(Array("causeway transfer 1 ".utf8) + sum + [0x0A] + body, identifier: 5) == nil)
    }

    @Test("A stored session is one dictionary, also if an earlier version wrote it")
    func sessionFormat() throws {
        let values: [String: Any] = [
            "identifier": "i", "program": "p", "lastIdentifier": 7, "isComplete": true, "requestTimeout": 9.0,
            "resourceTimeout": 90.0, "accessOptions": 3, "isDiscretionary": true, "networkServiceType": 3,
            "multipathServiceType": 1, "minimumTLSVersion": 0x0304, "maximumTLSVersion": 0x0304, "usesNoProxy": true,
            "setsCookies": false, "storesCookies": true, "cookiePolicy": 1, "storesCredentials": false,
            "maximumConnections": 4, "fields": ["X-Name": "value"],
        ]
        let file = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
        let record = try PropertyListDecoder().decode(SessionRecord.self, from: file)
        #expect(record.identifier == "i" && record.program == "p" && record.lastIdentifier == 7 && record.isComplete)
        let settings = record.settings(stores: nil)
        #expect(settings.timeouts.request == 9 && settings.timeouts.resource == 90)
        #expect(settings.access.isDiscretionary && settings.access.options.rawValue == 3)
        #expect(settings.transport.minimumTLSVersion == .TLSv13 && settings.transport.proxyDictionary != nil)
        #expect(!settings.http.setsCookies && settings.http.cookieAcceptPolicy == .never)
        #expect(settings.http.maximumConnectionsPerHost == 4)
        let written = try PropertyListEncoder().encode(record)
        let list = try PropertyListSerialization.propertyList(from: written, format: nil) as? [String: Any]
        // Records from the earlier version do not contain the cache policy. So it is the only new key.
        #expect(list.map { Set($0.keys) } == Set(values.keys).union(["cachePolicy"]))
        #expect(try PropertyListDecoder().decode(SessionRecord.self, from: written) == record)
    }

    @Test("The stored settings make an equal session, unless they cannot be stored")
    func sessionRecord() throws {
        var settings = settings
        settings.timeouts.request = 9
        settings.timeouts.resource = .infinity
        settings.access.options.remove(.allowsExpensiveAccess)
        settings.cachePolicy = .reloadIgnoringLocalCacheData
        settings.transport.minimumTLSVersion = .TLSv13
        settings.transport.enablesEarlyData = true
        settings.transport.proxyDictionary = [:]
        settings.http.additionalFields = ["X-Name": "value"]
        let record = SessionRecord(settings, program: "p")
        try store().write(record)
        let read = try #require(try store().session)
        #expect(read == record && read.isComplete)
        let made = read.settings(stores: nil)
        #expect(made.timeouts.request == 9 && made.transport.minimumTLSVersion == .TLSv13)
        #expect(made.http.additionalFields?["X-Name"] as? String == "value" && made.transport.proxyDictionary != nil)
        #expect(made.access.waitsForConnectivity && made.background.identifier == "test")
        #expect(made.cachePolicy == .reloadIgnoringLocalCacheData && made.transport.enablesEarlyData)
        #expect(SessionRecord(made, program: "p") == record)
        settings.transport.proxyDictionary = ["HTTPEnable": 1]
        #expect(!SessionRecord(settings, program: "p").isComplete)
        settings.transport.proxyDictionary = nil
        settings.stores.cookies = HTTPCookieStorage()
        #expect(!SessionRecord(settings, program: "p").isComplete)
    }

    @Test("A session has one directory for each program or container, and identifier")
    func directories() {
        #expect(BackgroundDirectory.root(in: ["HOME": "/h"]) == "/h/.local/state/causeway/sessions")
        #expect(BackgroundDirectory.root(in: ["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/causeway/sessions")
        #expect(BackgroundDirectory.root(in: ["HOME": "h", "XDG_STATE_HOME": "s"]) == nil)
        #expect(StoreDirectory.distinctComponent("a.b-c") == "a.b-c")
        let names = [
            "a/b", "a_b", "a:b", "..", ".", "", "x", String(repeating: "x", count: 300),
            String(repeating: "x", count: 301),
        ]
        #expect(Set(names.map { StoreDirectory.distinctComponent($0) }).count == names.count)
        #expect(names.allSatisfy { StoreDirectory.distinctComponent($0).utf8.count < 200 })
    }
}
