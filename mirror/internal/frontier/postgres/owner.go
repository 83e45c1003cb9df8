package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// foreignObjects selects texts that describe objects of the schema $1 whose code
// another role can determine. Without such objects, it selects no rows. A
// trigger, a rule, a function or an operator of another role would run with the
// privileges of the current role. So would objects that another role creates
// later, because it has the privilege CREATE, TRIGGER or REFERENCES. A foreign
// key of another role is dangerous too. PostgreSQL before 18 executes the
// deferred triggers of its table with the privileges of the role that deletes a
// row here.
const foreignObjects = `with me as (select oid from pg_roles where rolname = current_user),
	space as (select * from pg_namespace where nspname = $1),
	relation as (select c.* from pg_class c join space s on s.oid = c.relnamespace)
	select 'the schema belongs to the role ' || pg_get_userbyid(nspowner) from space, me
		where nspowner <> me.oid and not (pg_get_userbyid(nspowner) = 'pg_database_owner'
			and exists (select from pg_database where datname = current_database() and datdba = me.oid))
	union all select 'other roles can create objects in the schema' from space, me, aclexplode(nspacl) a
		where a.privilege_type = 'CREATE' and a.grantee not in (nspowner, me.oid)
	union all select 'the relation ' || relname || ' belongs to the role ' || pg_get_userbyid(relowner) from relation, me
		where relowner <> me.oid
	union all select 'the table ' || relname || ' has rules or policies' from relation
		where relkind <> 'v' and (relhasrules or relrowsecurity)
	union all select 'the schema contains the view ' || relname from relation where relkind in ('v', 'm', 'f')
	union all select 'the table ' || relname || ' has the trigger ' || tgname from relation r join pg_trigger t on t.tgrelid = r.oid
		where not tgisinternal
	union all select 'the table ' || c.relname || ' has the foreign key ' || conname from relation r
		join pg_constraint f on f.confrelid = r.oid and f.contype = 'f' join pg_class c on c.oid = f.conrelid
	union all select 'other roles have the privilege ' || a.privilege_type || ' for the table ' || relname from relation r, me,
		lateral (select * from aclexplode(relacl) union all select x.* from pg_attribute, aclexplode(attacl) x where attrelid = r.oid) a
		where a.privilege_type in ('TRIGGER', 'REFERENCES') and a.grantee not in (relowner, me.oid)
	union all select 'the schema contains the function ' || proname from pg_proc join space s on s.oid = pronamespace
	union all select 'the schema contains the operator ' || oprname from pg_operator join space s on s.oid = oprnamespace
	limit 1`

// checkOwner returns an error if other roles can determine code that runs when
// the tables of the schema are used. The search_path of the transaction contains
// only pg_catalog.
func checkOwner(ctx context.Context, tx pgx.Tx, schema string) error {
	var problem, role string
	err := tx.QueryRow(ctx, "select p.text, current_user from ("+foreignObjects+") p(text)", schema).Scan(&problem, &role)
	switch {
	case err == pgx.ErrNoRows:
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("the schema %s is not used: %s, so other roles could run code as the role %s "+
		"(use a schema that fetch creates, as the role that owns it)", schema, problem, role)
}
