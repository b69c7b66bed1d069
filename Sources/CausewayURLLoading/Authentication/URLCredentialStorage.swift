internal import CausewaySystem
public import Foundation

/// The option that also removes credentials which are synchronized between devices.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension NSNotification.Name {
    /// Posted after a ``URLCredentialStorage`` has changed.
    public static let NSURLCredentialStorageChanged =
        NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// Credentials by protection space, in memory.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: the table is behind a lock. Subclasses of programs answer for their own properties.
@preconcurrency open class URLCredentialStorage: NSObject, @unchecked Sendable {
    private struct Entry {
        var credentials: [String: URLCredential] = [:]
        var defaultUser: String?
    }

    private static let sharedStorage = URLCredentialStorage()
    private let entries = LockedValue<[URLProtectionSpace: Entry]>([:])

    /// Creates an empty storage.
    public override init() { super.init() }

    /// The storage of the process.
    open class var shared: URLCredentialStorage { sharedStorage }

    /// Returns the credentials of a space by user name; `nil` if there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        entries.withLock { $0[space]?.credentials }
    }

    /// The credentials of all spaces.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        entries.withLock { $0.mapValues(\.credentials) }
    }

    /// Stores a credential with a user name. A credential without persistence is not stored.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: false)
    }

    /// Removes a credential. Credentials that are synchronized between devices stay.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential.
    ///
    /// - Parameter options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` with `true` also removes credentials that are
    ///   synchronized between devices.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = nil) {
        let all = options?[NSURLCredentialStorageRemoveSynchronizableCredentials] as? Bool ?? false
        guard credential.persistence != .synchronizable || all, let user = credential.user else { return }
        let isRemoved = entries.withLock { entries in
            guard entries[space]?.credentials[user] == credential else { return false }
            entries[space]?.credentials[user] = nil
            if entries[space]?.defaultUser == user { entries[space]?.defaultUser = nil }
            if entries[space]?.credentials.isEmpty == true { entries[space] = nil }
            return true
        }
        if isRemoved { postChange() }
    }

    /// Returns the default credential of a space.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries.withLock { entries in
            entries[space].flatMap { entry in entry.defaultUser.flatMap { entry.credentials[$0] } }
        }
    }

    /// Stores a credential and makes it the default of the space.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: true)
    }

    /// Passes the credentials of a space to a handler. macOS 10.10, iOS 8.
    open func getCredentials(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: space))
    }

    /// Returns the credentials of a space for a task. macOS 10.15, iOS 13.
    open func credentials(for space: URLProtectionSpace, task: URLSessionTask) async -> [String: URLCredential]? {
        await withCheckedContinuation { continuation in
            getCredentials(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential for a task. macOS 10.10, iOS 8.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: space)
    }

    /// Removes a credential for a task. macOS 10.10, iOS 8.
    open func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = nil, task: URLSessionTask
    ) {
        remove(credential, for: space, options: options)
    }

    /// Passes the default credential of a space to a handler. macOS 10.10, iOS 8.
    open func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Returns the default credential of a space for a task. macOS 10.15, iOS 13.
    open func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        await withCheckedContinuation { continuation in
            getDefaultCredential(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential for a task, and makes it the default of the space. macOS 10.10, iOS 8.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
        setDefaultCredential(credential, for: space)
    }

    /// Removes all credentials.
    func removeAll() {
        let hadSome = entries.withLock { entries in
            defer { entries = [:] }
            return !entries.isEmpty
        }
        if hadSome { postChange() }
    }

    private func store(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) {
        guard credential.persistence != .none, let user = credential.user else { return }
        let isChanged = entries.withLock { entries in
            let old = entries[space]
            entries[space, default: Entry()].credentials[user] = credential
            if asDefault { entries[space]?.defaultUser = user }
            return old?.credentials[user] != credential || asDefault && old?.defaultUser != user
        }
        if isChanged { postChange() }
    }

    private func postChange() {
        NotificationCenter.default.post(name: .NSURLCredentialStorageChanged, object: self)
    }
}
