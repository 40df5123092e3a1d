package dev.plumbline.macroload;

/** Asked several times a second whether the run shall end early; must not block. */
@FunctionalInterface
public interface CancelFlag {

  /** Never cancelled. */
  CancelFlag NEVER = () -> false;

  boolean cancelled();
}
