package run.mulligan.plugin;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;

/** Notices that the host is gone: standard input ends, or the parent process changes. */
final class LifeLine {
    /** How often the parent is looked at, in milliseconds. */
    private static final long LOOK_EVERY = 500;

    private static final int TYPE_BITS = 0170000;
    private static final int FIFO = 0010000;
    private static final int SOCKET = 0140000;

    private final OptionalLong parent;
    private final CountDownLatch gone = new CountDownLatch(1);

    private LifeLine(OptionalLong parent) {
        this.parent = parent;
    }

    /** Notes the parent as it is now. */
    static LifeLine note() {
        return new LifeLine(parent());
    }

    /** Returns when the host is gone. */
    void await() {
        if (isConnection()) {
            start("standard-input", this::readToEnd);
        }
        start("parent", this::watchParent);
        try {
            gone.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells whether standard input is a pipe or a socket; a terminal or a file says nothing about the host. */
    private static boolean isConnection() {
        try {
            int type = (int) Files.getAttribute(Path.of("/dev/stdin"), "unix:mode") & TYPE_BITS;
            return type == FIFO || type == SOCKET;
        } catch (IOException e) {
            return false; // It is closed.
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void readToEnd() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            System.err.println("standard input: " + e);
        }
        gone.countDown();
    }

    private void watchParent() {
        try {
            while (parent().equals(parent)) {
                Thread.sleep(LOOK_EVERY);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        gone.countDown();
    }

    private static OptionalLong parent() {
        return ProcessHandle.current().parent().stream().mapToLong(ProcessHandle::pid).findFirst();
    }
}
