internal import CausewaySystem
public import Foundation

/// The option key for also removing credentials that are synchronized between devices.
public let NSURLCredentialStorageRemoveSynchronizableCredentials =
    "NSURLCredentialStorageRemoveSynchronizableCredentials"

extension NSNotification.Name {
    /// Posted after a ``URLCredentialStorage`` has changed.
    public static let NSURLCredentialStorageChanged =
        NSNotification.Name("NSURLCredentialStorageChangedNotification")
}

/// A store of credentials, grouped by protection space. The credentials are kept in memory.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: a lock guards the table. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLCredentialStorage: NSObject, @unchecked Sendable {
    private struct Entry {
        var credentials: [String: URLCredential] = [:]
        var defaultUser: String?
    }

    private static let sharedStorage = URLCredentialStorage()
    private let entries = LockedValue<[URLProtectionSpace: Entry]>([:])

    /// Creates an empty storage.
    public override init() { super.init() }

    /// The shared storage of the process.
    open class var shared: URLCredentialStorage { sharedStorage }

    /// Returns the credentials for a protection space, keyed by user name, or `nil` if there are none.
    open func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
        entries.withLock { $0[space]?.credentials }
    }

    /// The credentials for all protection spaces.
    open var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
        entries.withLock { $0.mapValues(\.credentials) }
    }

    /// Stores a credential that has a user name. A credential whose persistence is ``URLCredential/Persistence/none`` is not stored.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: false)
    }

    /// Removes a credential. Credentials that are synchronized between devices are not removed.
    open func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
        remove(credential, for: space, options: nil)
    }

    /// Removes a credential.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - space: The protection space.
    ///   - options: ``NSURLCredentialStorageRemoveSynchronizableCredentials`` with `true` also removes credentials that are
    ///     synchronized between devices.
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

    /// Returns the default credential for a protection space.
    open func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries.withLock { entries in
            entries[space].flatMap { entry in entry.defaultUser.flatMap { entry.credentials[$0] } }
        }
    }

    /// Stores a credential and makes it the default for the protection space.
    open func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
        store(credential, for: space, asDefault: true)
    }

    /// Passes the credentials for a protection space to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getCredentials(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: space))
    }

    /// Returns the credentials for a protection space on behalf of a task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func credentials(for space: URLProtectionSpace, task: URLSessionTask) async -> [String: URLCredential]? {
        await withCheckedContinuation { continuation in
            getCredentials(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential on behalf of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func set(_ credential: URLCredential, for space: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: space)
    }

    /// Removes a credential on behalf of a task.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func remove(
        _ credential: URLCredential, for space: URLProtectionSpace, options: [String: Any]? = nil, task: URLSessionTask
    ) {
        remove(credential, for: space, options: options)
    }

    /// Passes the default credential for a protection space to a completion handler.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
    open func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask,
        completionHandler: @escaping @Sendable (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Returns the default credential for a protection space on behalf of a task.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    open func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        await withCheckedContinuation { continuation in
            getDefaultCredential(for: space, task: task) { continuation.resume(returning: $0) }
        }
    }

    /// Stores a credential on behalf of a task, and makes it the default for the protection space.
    ///
    /// Counterpart: macOS 10.10, iOS 8.
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
